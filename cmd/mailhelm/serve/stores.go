package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/datafolder"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/githubapp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/incoming"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/mailin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/masterkey"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/ownmail"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/repository"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/site"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/dispatch"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/guardrails/redisbuckets"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// stores holds what the parts of a server share: the database, the sending accounts, the
// job queue and the keys.
type stores struct {
	letGo   func() error // releases the data folder
	db      *storage.DB
	account *simulator.Simulator // for organizations without a connection
	// accounts gives access to the sending accounts of all organizations. For an
	// organization without a connected account it uses the simulated one in the field
	// account.
	accounts    *sending.Accounts
	adapters    accounts.Adapters
	connections sending.Connections
	queue       *engine.Jobs          // enqueues jobs, runs none
	buckets     *redisbuckets.Buckets // nil without a Redis
	letters     letters.Sender        // nil if the operator has configured no SMTP server
	signing     *signing.Keys
	// principals authenticates callers and caches them in this process. It is nil in a
	// worker.
	principals *bearer.Authenticator
	master     signing.MasterKey
	erased     privacy.Erased // addresses that must not be used again
	confirm    []byte         // secret that derives confirmation keys
	// key of the hashes of codes that verify senders
	senderCodes []byte
	process     *replay.Process
	usage       *usage.Counter // counts calls at the agent endpoint
	// hooks creates webhook deliveries of events.
	hooks *webhooks.Observer
	// links makes the links with which recipients unsubscribe.
	links *unsubscribe.Links
	// incoming receives mail.
	incoming *incoming.Parts
	// handover passes mail to the sending accounts. newDomains sets it.
	handover *handover.Handover
	// received has what receives, publishes and delivers the mail of receiving domains.
	// newDomains sets it.
	received *mailin.Domains
	// reports reads DMARC reports and measures domains. newDomains sets it.
	reports *dmarc.Reports
	// repository keeps definitions in Git repositories, those on GitHub through app.
	repository *repository.Parts
	app        *githubapp.Parts
	// site takes beacons of websites. It is nil in a worker.
	site *site.Parts
	// dispatcher drives broadcasts. It is nil in a process with the role api.
	dispatcher *dispatch.Dispatcher
	// journeys moves the runs of workflows and sends their messages. It is nil in a process
	// with the role api.
	journeys *journeys
}

// wakeDispatcher lets the dispatcher of this process look for broadcasts at once. A process
// without one leaves that to the others, which look every second.
func (s *stores) wakeDispatcher() {
	if s.dispatcher != nil {
		s.dispatcher.Wake()
	}
}

// StorageOf returns the settings of the database in a server's configuration.
func StorageOf(cfg config.Config) engine.Config {
	return engine.Config{URL: cfg.DatabaseURL, DirectURL: cfg.DatabaseDirectURL, ReplicaURL: cfg.DatabaseReplicaURL, ReplicaLag: cfg.ReplicaBound(), Dir: cfg.DataDir, MaxConns: cfg.MaxConns, SQLiteReaders: cfg.SQLiteReaders, CallerWait: cfg.CallerWait, Clock: cfg.Clock, Logger: cfg.Log}
}

// openStores opens the database and the other stores, and creates files that are missing.
// On SQLite it locks the data folder first. If it fails, it closes what it opened.
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

// open opens the stores in the order of their dependencies. If it fails, some of them stay
// open; the caller then closes s.
func (s *stores) open(ctx context.Context, cfg config.Config) error {
	var err error
	if s.buckets, err = openBuckets(ctx, cfg); err != nil {
		return err
	}
	if s.letters, err = ownmail.Open(cfg); err != nil {
		return err
	}
	if s.db, err = storage.Open(ctx, StorageOf(cfg)); err != nil {
		return config.DatabaseError(cfg.DatabaseURL, err)
	}
	if err := migrate(ctx, s.db, cfg.NoMigrate); err != nil {
		return err
	}
	master, err := masterkey.Open(ctx, cfg, s.db.SigningKeys(), s.db.MasterKeys())
	if err != nil {
		return err
	}
	s.master = master
	if s.account, err = simulator.Open(cfg.AccountFile(), simulator.Options{
		Clock: cfg.Clock, Behaviour: cfg.Recipients, KeptMails: max(0, cmp.Or(cfg.KeptMails, simulator.DefaultKeptMails)),
	}); err != nil {
		return err
	}
	s.process = replay.NewProcess(replay.ProcessConfig{
		Role: string(cfg.Role), Store: s.db.Processes(), Replays: s.db.Replay(), Clock: cfg.Clock, Log: cfg.Log, Alone: cfg.DatabaseURL == "",
	})
	s.erased = persons.Erased(s.db.Privacy(), func() (signing.MasterKey, error) { return master, nil })
	s.connections = s.db.Connections(master)
	lists := accounts.NewConsent(s.db.DB, s.account, cfg.Log)
	if s.adapters, err = accounts.NewAdapters(cfg, lists); err != nil {
		return err
	}
	if err := lists.MoveAll(ctx); err != nil {
		return err
	}
	s.accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.connections, Otherwise: s.account, Open: s.adapters.Open, Prepare: accounts.Prepare(cfg, s.account, lists), Clock: cfg.Clock,
	})
	s.hooks = webhooks.NewObserver(s.db.Webhooks(), cfg.Clock)
	s.usage = usage.NewCounter(s.db.Usage(), cfg.Log)
	if s.queue, err = s.db.NewJobs(engine.JobsConfig{}); err != nil {
		return err
	}
	if s.app, err = githubapp.Open(cfg); err != nil {
		return err
	}
	if s.repository, err = repository.Open(cfg, s.db.Git(master), s.queue, s.app.App); err != nil {
		return err
	}
	if s.signing, err = signing.NewKeys(ctx, s.db.SigningKeys(), master, cfg.Clock); err != nil {
		return err
	}
	// The secret of confirmation tokens is derived from the master key. All processes on one
	// database thus have the same secret without storing it.
	if s.senderCodes, err = master.Derive("mailhelm sender codes 1", senders.CodeKeyBytes); err != nil {
		return fmt.Errorf("key of sender codes: %w", err)
	}
	if s.confirm, err = master.Derive("mailhelm confirmation 1", guardrails.ConfirmationSecretBytes); err != nil {
		return fmt.Errorf("confirmation secret: %w", err)
	}
	return nil
}

// follow keeps this process up to date with changes that other processes commit. It reloads
// the signing keys and the log level regularly, stores the numbers of calls, and applies changes of which the
// database notifies; see followChanges. The returned function stops all tasks and waits until they have ended; it
// stores the last numbers of calls.
func (s *stores) follow(cfg config.Config, settings remembered) func() {
	log := cfg.Log
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(signing.ReloadEvery)
	var running sync.WaitGroup
	running.Go(func() { s.signing.Follow(ctx, ticker.C, log) })
	running.Go(func() { masterkey.Follow(ctx, s.master, s.db.MasterKeys(), log) })
	flushing := time.NewTicker(usage.FlushEvery)
	running.Go(func() { s.usage.Follow(ctx, flushing.C) })
	leveling := time.NewTicker(monitoring.LogLevelEvery)
	if cfg.LogLevel != nil {
		levels := monitoring.LogLevels{Facts: s.db.Installation(), Level: cfg.LogLevel, Own: cfg.LogLevel.Level(), Clock: cfg.Clock, Log: log}
		running.Go(func() { levels.Follow(ctx, leveling.C) })
	}
	running.Go(func() { s.followChanges(ctx, settings, log) })
	return func() {
		ticker.Stop()
		flushing.Stop()
		leveling.Stop()
		cancel()
		running.Wait()
	}
}

// live registers this process as a running one, which may reserve idempotency keys and claim
// imports, and keeps the registration current. The returned function ends the registration
// and releases the reserved keys.
func (s *stores) live(ctx context.Context) (func(context.Context) error, error) {
	if err := s.process.Start(ctx); err != nil {
		return nil, fmt.Errorf("register this process: %w", err)
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

// migrate applies missing migrations to the database. If leave is true, it applies none and
// fails if any are missing, so that the server does not start.
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

// close closes the stores that are open, releases the data folder and returns all errors.
// Call it once, after the last use of the stores.
func (s *stores) close() error {
	var failures []error
	if s.buckets != nil {
		failures = append(failures, s.buckets.Close())
	}
	if s.adapters.Servers != nil {
		failures = append(failures, s.adapters.Close())
	}
	if s.incoming != nil {
		s.incoming.Close()
	}
	if s.app != nil {
		s.app.Close()
	}
	failures = append(failures, ownmail.Close(s.letters))
	if s.account != nil {
		failures = append(failures, s.account.Close())
	}
	if s.db != nil {
		failures = append(failures, s.db.Close())
	}
	return errors.Join(append(failures, s.letGo())...)
}
