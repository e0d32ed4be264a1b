package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters/smtpmail"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// stores is everything that is kept: the database, the sending accounts and the keys.
type stores struct {
	letGo   func() error // of the data folder
	db      *storage.DB
	account *simulator.Simulator // of organizations without another
	// accounts are everybody's, account among them, by their connections.
	accounts    *sending.Accounts
	adapters    Adapters
	connections sending.Connections
	queue       *engine.Jobs          // takes jobs, and runs none
	buckets     *redisbuckets.Buckets // nil without a Redis
	mailer      *smtpmail.Sender      // nil without a server for mail to people
	signing     *signing.Keys
	// principals is what this process remembers of callers; nil in a worker.
	principals *access.Authenticator
	master     signing.MasterKey
	confirm    []byte // the secret behind the keys of confirmations
	process    *replay.Process
}

// StorageOf returns the database of a configuration.
func StorageOf(cfg config.Config) engine.Config {
	return engine.Config{URL: cfg.DatabaseURL, Dir: cfg.DataDir, MaxConns: cfg.MaxConns, CallerWait: cfg.CallerWait, Clock: cfg.Clock, Logger: cfg.Log}
}

// openStores opens what the data folder and the database hold, and makes what is
// missing.
func openStores(ctx context.Context, cfg config.Config) (*stores, error) {
	letGo, err := holdFolder(cfg.DataDir, cfg.DatabaseURL == "")
	if err != nil {
		return nil, err
	}
	s := &stores{letGo: letGo}
	if err := s.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stores) open(ctx context.Context, cfg config.Config) error {
	master, err := cfg.OpenMasterKey()
	if err != nil {
		return err
	}
	s.master = master
	if s.buckets, err = openBuckets(ctx, cfg); err != nil {
		return err
	}
	if server, configured, err := cfg.SystemMail(); err != nil {
		return err
	} else if configured {
		s.mailer = newMailer(cfg, server)
	}
	if s.db, err = storage.Open(ctx, StorageOf(cfg)); err != nil {
		return err
	}
	if err := migrate(ctx, s.db, cfg.NoMigrate); err != nil {
		return err
	}
	if s.account, err = simulator.Open(cfg.AccountFile(), simulator.Options{Clock: cfg.Clock, Behaviour: cfg.Recipients}); err != nil {
		return err
	}
	s.process = replay.NewProcess(replay.ProcessConfig{
		Store: s.db.Processes(), Replays: s.db.Replay(), Clock: cfg.Clock, Log: cfg.Log, Alone: cfg.DatabaseURL == "",
	})
	s.connections = s.db.Connections(master)
	if s.adapters, err = NewAdapters(cfg, s.account); err != nil {
		return err
	}
	s.accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.connections, Otherwise: s.account, Open: s.adapters.Open, Clock: cfg.Clock,
	})
	if s.queue, err = s.db.NewJobs(engine.JobsConfig{}); err != nil {
		return err
	}
	if s.signing, err = signing.NewKeys(ctx, s.db.SigningKeys(), master, cfg.Clock); err != nil {
		return err
	}
	// Derived, so that all processes over one database agree on it without storing
	// one more secret.
	if s.confirm, err = master.Derive("mailhelm confirmation 1", guardrails.ConfirmationSecretBytes); err != nil {
		return fmt.Errorf("confirmation secret: %w", err)
	}
	return nil
}

// follow keeps the signing keys and what is remembered of callers up to date with
// what other processes do. What it returns ends that.
func (s *stores) follow(log *slog.Logger) func() {
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(signing.ReloadEvery)
	var running sync.WaitGroup
	running.Go(func() { s.signing.Follow(ctx, ticker.C, log) })
	if s.principals != nil {
		running.Go(func() {
			s.db.FollowAccessChanges(ctx, func(c access.Change) { s.apply(ctx, c, log) })
		})
	}
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
	}
}

// live makes this process known as one that holds reservations, and shows signs of
// life until what it returns is called. That gives back what is still reserved.
func (s *stores) live(ctx context.Context) (func(context.Context) error, error) {
	if err := s.process.Start(ctx); err != nil {
		return nil, fmt.Errorf("reservations: %w", err)
	}
	following, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(replay.Beat)
	var running sync.WaitGroup
	running.Go(func() { s.process.Follow(following, ticker.C) })
	return func(ctx context.Context) error {
		ticker.Stop()
		cancel()
		running.Wait()
		return s.process.Stop(ctx)
	}, nil
}

// reloadTimeout bounds reading the signing keys, so that later changes do not wait
// for a database that does not answer.
const reloadTimeout = 2 * time.Second

// apply makes this process feel a change that some process committed.
func (s *stores) apply(ctx context.Context, c access.Change, log *slog.Logger) {
	if c.Kind == access.SigningKeyChanged || c.Kind == access.Anything {
		bounded, cancel := context.WithTimeout(ctx, reloadTimeout)
		defer cancel()
		if err := s.signing.Reload(bounded); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "signing keys not reloaded", "cause", err)
		}
	}
	s.principals.Apply(c)
}

// migrate brings the schema up to date, or, when it is told to leave it alone,
// makes sure that it is.
func migrate(ctx context.Context, db *storage.DB, leave bool) error {
	if !leave {
		return db.Migrate(ctx)
	}
	missing, err := db.MissingMigrations(ctx)
	if err == nil && missing > 0 {
		err = fmt.Errorf("the database lacks %d of this program's migrations: run 'mailhelm migrate up', or start without --no-migrate", missing)
	}
	return err
}

func (s *stores) close() error {
	var failures []error
	if s.buckets != nil {
		failures = append(failures, s.buckets.Close())
	}
	if s.adapters.servers != nil {
		failures = append(failures, s.adapters.Close())
	}
	if s.mailer != nil {
		failures = append(failures, s.mailer.Close())
	}
	if s.account != nil {
		failures = append(failures, s.account.Close())
	}
	if s.db != nil {
		failures = append(failures, s.db.Close())
	}
	return errors.Join(append(failures, s.letGo())...)
}
