package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/incoming"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/memory"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring/overview"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/repository"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/shared"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/simulatedevents"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/site"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/tracing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/prometheus/client_golang/prometheus"
)

// Host is a running server. Create it with [Start] and stop it once with [Host.Stop].
type Host struct {
	cfg       config.Config
	addresses Addresses
	stores    *stores
	domains   catalogue.Domains
	readiness *monitoring.Readiness
	metrics   *prometheus.Registry
	history   *overview.History
	// jobs runs the background jobs. It is nil in a process with the role api.
	jobs    *engine.Jobs
	servers *network.Servers
	// spans exports tracing spans. It does nothing if no OTLP endpoint is configured.
	spans *tracing.Exporter
	// unfollow stops goroutines and waits for their end: those that reload the signing keys,
	// deliver simulated events and send webhooks.
	unfollow func()
	// undispatch stops the dispatcher of broadcasts and the runs of workflows, and waits until
	// their calls of sending accounts have ended. It is nil in a process with the role api.
	undispatch func()
	// leave releases the reservations of idempotency keys that this process holds. It is nil
	// in a worker.
	leave func(context.Context) error
}

// Addresses are the addresses of a running host, with the actual port if the system chose
// it.
type Addresses struct {
	config.Public
	SMTP  string // host:port
	Admin string // a URL
}

// Prepare changes the data of a host before it answers calls and runs jobs.
type Prepare func(context.Context, *Host) error

// Start starts a host and returns it when every address answers. Until the preparations have
// ended, callers wait. The host runs until [Host.Stop], even if ctx ends earlier. If Start fails, it
// closes everything that it opened.
func Start(ctx context.Context, cfg config.Config, preparations ...Prepare) (*Host, error) {
	cfg = withDefaults(cfg)
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	open, err := network.Listen(ctx, cfg.Ports())
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg}
	if err := h.start(ctx, open, preparations); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	return h, nil
}

// withDefaults returns cfg with defaults for empty fields: the role all, the system's
// clock, the default logger and the commit "unknown".
func withDefaults(cfg config.Config) config.Config {
	cfg.Role = cmp.Or(cfg.Role, config.All)
	cfg.Build.Commit = cmp.Or(cfg.Build.Commit, "unknown")
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return cfg
}

// start opens the tracing exporter and the stores, and starts the host on the open
// listeners. If it fails, it closes what it opened. The caller then closes the listeners.
func (h *Host) start(ctx context.Context, open network.Listeners, preparations []Prepare) error {
	h.cfg.Listen = open.BoundAddresses(h.cfg.Listen)
	h.addresses = Addresses{Public: h.cfg.Complete(), SMTP: h.cfg.Listen.SMTP, Admin: config.AdminURL(h.cfg.Listen.Admin)}
	if h.cfg.Role == config.Worker {
		h.addresses.SMTP = ""
	}
	if err := h.addresses.Check(); err != nil {
		return err
	}
	var err error
	if h.spans, err = tracing.Open(ctx, tracing.Config{Endpoint: h.cfg.OTLPEndpoint, Version: h.cfg.Build.Version, Log: h.cfg.Log}); err != nil {
		return err
	}
	if h.stores, err = openStores(ctx, h.cfg); err != nil {
		h.spans.Close(ctx)
		return err
	}
	if h.cfg.Role == config.Worker {
		h.addresses.Public, err = shared.ForWorker(ctx, h.cfg, h.addresses.Public, h.stores.db.Installation())
	}
	if err == nil {
		err = h.assemble(ctx, open, preparations)
	}
	if err != nil {
		h.spans.Close(ctx)
		h.returnReservations(ctx)
		return errors.Join(err, h.stores.close())
	}
	return nil
}

// assemble creates and starts what the role of the process needs. The role worker has no
// HTTP services except at the admin address, and the role api runs no jobs. If assemble
// fails, the caller closes the stores and releases the idempotency keys that this process
// has reserved.
func (h *Host) assemble(ctx context.Context, open network.Listeners, preparations []Prepare) error {
	metrics := monitoring.NewRegistry(h.cfg.Build)
	h.metrics = metrics
	var err error
	if h.stores.links, err = newLinks(h.stores.master, h.addresses.Public); err != nil {
		return err
	}
	needs := incomingNeeds(h.cfg, h.stores, h.addresses.Public, metrics)
	if h.stores.incoming, err = incoming.Open(needs); err != nil {
		return err
	}
	h.domains = newDomains(h.cfg, h.stores, h.addresses.Public, metrics)
	if err := h.stores.incoming.Receive(needs, h.stores.received, h.stores.reports); err != nil {
		return err
	}
	h.domains.Inboxes = h.stores.incoming.Inboxes
	h.readiness = &monitoring.Readiness{DB: h.stores.db.DB, Buckets: h.stores.buckets, Process: h.stores.process, Log: h.cfg.Log}
	monitoring.ShowServer(metrics, h.stores.db.DB, h.stores.process, h.cfg.Log)
	h.history = overview.NewHistory(metrics, h.cfg.Clock)
	handlers := map[string]http.Handler{config.AdminService: monitoring.Handler(metrics, h.readiness, h.history)}
	var receiver *smtpd.Server
	var simulated *simulatedevents.Events
	if h.leave, err = h.stores.live(ctx); err != nil {
		return err
	}
	if h.cfg.Role != config.Worker {
		if h.stores.site, err = site.Open(ctx, site.Needs{
			Config: h.cfg, Store: h.stores.db.Site(), Visitors: h.stores.db.VisitorIDs(), Activities: h.domains.Activities, Transactor: h.stores.db, Metrics: metrics,
		}); err != nil {
			return err
		}
		if simulated, err = simulatedevents.New(simulatedevents.Config{
			Outbox: h.stores.account.Outbox(), Connections: h.stores.connections, Base: h.addresses.API, Clock: h.cfg.Clock, Log: h.cfg.Log,
		}); err != nil {
			return err
		}
		sites, err := surfaces(h.cfg, h.addresses.Public, h.stores, h.domains, simulated, observers{metrics, h.spans.Tracer()})
		if err != nil {
			return err
		}
		requests := monitoring.NewRequests(metrics)
		for i, site := range sites {
			sites[i].Handler = requests.Count(site.Service, site.Routes, site.Handler)
		}
		for service, handler := range network.Handlers(open, sites, h.addresses.Docs) {
			handlers[service] = handler
		}
		if receiver, err = h.stores.incoming.Receiver(metrics); err != nil {
			return err
		}
	}
	for _, prepare := range preparations {
		if err := prepare(ctx, h); err != nil {
			return err
		}
	}
	if h.cfg.Role != config.API {
		if err := h.work(ctx, metrics); err != nil {
			return err
		}
	}
	h.follow(simulated)
	h.servers = network.Serve(open, handlers, receiver, h.cfg.Log)
	h.publish(ctx)
	return nil
}

// work starts the jobs, the dispatcher of broadcasts and the runs of workflows.
func (h *Host) work(ctx context.Context, metrics *prometheus.Registry) error {
	h.stores.dispatcher = newDispatcher(h.cfg, h.stores, h.domains.Broadcasts)
	h.stores.journeys = newJourneys(h.cfg, h.stores, h.domains)
	var err error
	if h.jobs, err = startJobs(ctx, h.cfg, h.addresses.Public, h.stores, h.domains, monitoring.CountJobs(metrics)); err != nil {
		return err
	}
	undispatch, unmove := h.stores.dispatch(), h.stores.journeys.follow()
	h.undispatch = func() {
		unmove()
		undispatch()
	}
	return nil
}

// follow starts the goroutines that h.unfollow stops. simulated is nil in a worker. Webhooks
// are sent by every process that runs jobs.
func (h *Host) follow(simulated *simulatedevents.Events) {
	unfollowKeys := h.stores.follow(h.cfg, h.remembered())
	unreceive, unfollowEvents, unsend, unfollowSite := h.stores.incoming.Follow(), func() {}, func() {}, func() {}
	if simulated != nil {
		unfollowEvents, unfollowSite = simulated.Follow(), h.stores.site.Follow()
	}
	if h.jobs != nil {
		unsend = sendWebhooks(h.cfg, h.stores)
	}
	unfollowDomains, unfollowReports := h.stores.received.Follow(h.cfg.Role), h.stores.reports.Follow(h.cfg.Role)
	unsample := h.history.Follow()
	h.unfollow = func() {
		unsample()
		unfollowSite()
		unfollowEvents()
		unfollowDomains()
		unfollowReports()
		unsend()
		unreceive()
		unfollowKeys()
	}
}

// publish stores the public addresses for workers and for commands of the operator, unless this
// process is a worker. It logs an error and does not return it, because calls can be answered
// without.
func (h *Host) publish(ctx context.Context) {
	if h.cfg.Role == config.Worker {
		return
	}
	if err := shared.Publish(ctx, h.cfg, h.addresses.Public, h.stores.db.Installation()); err != nil {
		h.cfg.Log.WarnContext(ctx, "links of workers and of mailhelm admin have earlier or default addresses", "error", err)
	}
}

// Addresses returns the public, SMTP and admin addresses of the host. They do not change
// while the host runs.
func (h *Host) Addresses() Addresses { return h.addresses }

// DB returns the open database, for code in this process that sets up data. The host closes
// it; do not use it after [Host.Stop].
func (h *Host) DB() *storage.DB { return h.stores.db }

// Account returns the simulated sending account, which organizations without a connected
// account use. The host closes it.
func (h *Host) Account() *simulator.Simulator { return h.stores.account }

// Sync returns the host's topics.Sync, which copies an account's contact list into
// Mailhelm's database. It checks no permissions. It is for callers that cannot wait for the
// background job.
func (h *Host) Sync() *topics.Sync { return h.domains.Sync }

// Domains returns the values that implement the operations, such as *contacts.Contacts and
// *messages.Messages. They check no permissions. They are for code in this process that
// sets up data.
func (h *Host) Domains() catalogue.Domains { return h.domains }

// Connections returns the store of connections to sending accounts, which decrypts their
// secrets. After changing a connection, call [Host.Forget], so that this process uses the
// change at once.
func (h *Host) Connections() sending.Connections { return h.stores.connections }

// Webhooks returns the value that manages webhook endpoints. It checks no permissions. It is
// for code in this process that sets up data.
func (h *Host) Webhooks() webhooks.Webhooks { return newWebhooks(h.cfg, h.stores) }

// Site returns the parts that take beacons of websites. It is nil in a worker.
func (h *Host) Site() *site.Parts { return h.stores.site }

// Repository returns the parts that know Git repositories.
func (h *Host) Repository() *repository.Parts { return h.stores.repository }

// Forget makes this process use a changed connection of an organization to its sending account. It may be repeated.
func (h *Host) Forget(orgID string) { h.remembered().forgetAccount(orgID) }

func (h *Host) remembered() remembered { return remembered{h.stores, h.domains} }

// Clock returns the host's clock. Code that sets up data uses it, so that all times come
// from one clock.
func (h *Host) Clock() core.Clock { return h.cfg.Clock }

// ReleaseMemory returns memory to the operating system, as [memory.Release] describes; idle
// connections to the database are closed. Call it after the start is complete.
func (h *Host) ReleaseMemory(ctx context.Context) { memory.Release(ctx, h.cfg, h.DB().GiveBack) }

// Failed returns a channel that receives an error if a listener stops unexpectedly. The
// caller must then stop the host.
func (h *Host) Failed() <-chan error { return h.servers.Failed() }

// Stop stops accepting calls, waits for calls in flight and for jobs until ctx ends, and
// closes the stores. An error means that calls or jobs were interrupted or that closing
// failed; the host has stopped nevertheless.
func (h *Host) Stop(ctx context.Context) error {
	h.readiness.Drain()
	h.stores.incoming.Waiting.Close()
	failures := []error{h.servers.Drain(ctx)}
	if h.undispatch != nil {
		h.undispatch()
	}
	if h.jobs != nil {
		failures = append(failures, h.jobs.Stop(ctx))
	}
	h.unfollow()
	failures = append(failures, h.servers.Close())
	h.spans.Close(ctx)
	h.returnReservations(ctx)
	return errors.Join(append(failures, h.stores.close())...)
}

// returnReservations releases the idempotency keys that this process has reserved, so that
// other processes need not wait for them. It logs an error and does not return it, because
// an unavailable database must not prevent the host from stopping.
func (h *Host) returnReservations(ctx context.Context) {
	if h.leave == nil {
		return
	}
	if err := h.leave(ctx); err != nil {
		h.cfg.Log.WarnContext(ctx, "other processes take over the reservations of this process a few seconds late", "error", err)
	}
}
