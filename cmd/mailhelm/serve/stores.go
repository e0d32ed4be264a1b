package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/datafolder"
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

// stores holds what the product keeps: the database, the sending accounts and the keys.
type stores struct {
	letGo   func() error // releases the data folder
	db      *storage.DB
	account *simulator.Simulator // for organizations without a connection
	// accounts are the sending accounts of all organizations, by their connections. They
	// include account.
	accounts    *sending.Accounts
	adapters    accounts.Adapters
	connections sending.Connections
	queue       *engine.Jobs          // enqueues jobs, runs none
	buckets     *redisbuckets.Buckets // nil without a Redis
	mailer      *smtpmail.Sender      // nil without a server for system mail
	signing     *signing.Keys
	// principals caches authenticated callers in this process. It is nil in a worker.
	principals *access.Authenticator
	master     signing.MasterKey
	confirm    []byte // secret that derives confirmation keys
	process    *replay.Process
}

// StorageOf returns the database settings of a configuration.
func StorageOf(cfg config.Config) engine.Config {
	return engine.Config{URL: cfg.DatabaseURL, Dir: cfg.DataDir, MaxConns: cfg.MaxConns, CallerWait: cfg.CallerWait, Clock: cfg.Clock, Logger: cfg.Log}
}

// openStores opens the data folder and the database, and creates what is missing. On an
// error it has closed everything.
func openStores(ctx context.Context, cfg config.Config) (*stores, error) {
	letGo, err := datafolder.Hold(cfg.DataDir, cfg.DatabaseURL == "")
	if err != nil {
		return nil, err
	}
	s := &stores{letGo: letGo}
	if err := s.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// open opens the stores in the order in which they depend on each other. On an error
// some are open; the caller closes s.
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
	if s.adapters, err = accounts.NewAdapters(cfg, s.account); err != nil {
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
	// Derived from the master key, so that all processes on one database agree on it without
	// storing another secret.
	if s.confirm, err = master.Derive("mailhelm confirmation 1", guardrails.ConfirmationSecretBytes); err != nil {
		return fmt.Errorf("confirmation secret: %w", err)
	}
	return nil
}

// follow applies changes of other processes to the signing keys and the cached callers.
// The returned function stops it and waits. A worker has no cached callers and follows
// only the keys.
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

// live registers this process as a holder of reservations and renews that registration
// regularly. The returned function stops this and gives back the open reservations.
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

// reloadTimeout limits a reload of the signing keys, so that an unresponsive database
// does not delay later changes.
const reloadTimeout = 2 * time.Second

// apply applies a change committed by any process to the caches of this process. A
// reload of the signing keys takes at most reloadTimeout. A failed one is logged, and
// the periodic reload repeats it.
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

// migrate applies missing migrations. With leave it applies none, and returns an error
// if any are missing. A server with missing migrations does not start.
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

// close closes what is open and releases the data folder, and returns all errors. It
// works on stores that are open only in part. Call it once, after all users of the
// stores have ended.
func (s *stores) close() error {
	var failures []error
	if s.buckets != nil {
		failures = append(failures, s.buckets.Close())
	}
	if s.adapters.Servers != nil {
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
