package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/tracing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Host is the running product. Create it with [Start] and stop it once with
// [Host.Stop].
type Host struct {
	cfg       config.Config
	addresses Addresses
	stores    *stores
	domains   catalogue.Domains
	readiness *readiness
	// jobs runs the background jobs. It is nil in a process with the role api.
	jobs    *engine.Jobs
	servers *servers
	// spans sends spans; without an endpoint it does nothing.
	spans *tracing.Exporter
	// unfollow stops following the signing keys and delivering simulated events. It waits
	// for both.
	unfollow func()
	// leave gives back the reservations of this process. It is nil without surfaces.
	leave func(context.Context) error
}

// Addresses are the addresses of a running host. Ports that the system chose are
// included.
type Addresses struct {
	config.Public
	SMTP  string // host:port
	Admin string // a URL
}

// Start starts a host and returns it when every address answers. The host then runs
// until [Host.Stop], even if ctx ends. On an error it has closed everything it opened.
func Start(ctx context.Context, cfg config.Config) (*Host, error) {
	cfg = withDefaults(cfg)
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	open, err := listen(ctx, cfg)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg}
	if err := h.start(ctx, open); err != nil {
		return nil, errors.Join(err, open.close())
	}
	return h, nil
}

// withDefaults returns cfg with the role all, the system's clock, the default logger
// and the commit "unknown" where these are unset.
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

// start opens spans and stores, and then assembles the host on the open listeners. On
// an error it closes what it opened; the caller closes the listeners.
func (h *Host) start(ctx context.Context, open listeners) error {
	h.cfg.Listen = open.boundAddresses(h.cfg.Listen)
	h.addresses = Addresses{Public: h.cfg.Complete(), SMTP: h.cfg.Listen.SMTP, Admin: config.LocalURL(h.cfg.Listen.Admin)}
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
	if err := h.assemble(ctx, open); err != nil {
		h.spans.Close(ctx)
		h.returnReservations(ctx)
		return errors.Join(err, h.stores.close())
	}
	return nil
}

// assemble builds what the role needs and starts it: surfaces unless it is worker, jobs
// unless it is api. On an error the caller closes the stores and returns the
// reservations.
func (h *Host) assemble(ctx context.Context, open listeners) error {
	metrics := newMetrics(h.cfg.Build)
	h.domains = newDomains(h.cfg, h.stores, metrics)
	h.readiness = &readiness{db: h.stores.db, buckets: h.stores.buckets, log: h.cfg.Log}
	handlers := map[string]http.Handler{config.AdminService: adminHandler(metrics, h.readiness)}
	var receiver *smtpd.Server
	var simulated *simulatedEvents
	if h.cfg.Role != config.Worker {
		var err error
		if h.leave, err = h.stores.live(ctx); err != nil {
			return err
		}
		if simulated, err = newSimulatedEvents(h.stores, h.addresses.API, h.cfg.Clock, h.cfg.Log); err != nil {
			return err
		}
		sites, err := surfaces(h.cfg, h.addresses.Public, h.stores, h.domains, simulated, observers{metrics, h.spans.Tracer()})
		if err != nil {
			return err
		}
		for service, handler := range handlersOf(open, sites, h.addresses.Docs) {
			handlers[service] = handler
		}
		receiver = smtpd.New(smtpd.Config{Domain: hostname(h.addresses.App), Log: h.cfg.Log})
	}
	if h.cfg.Role != config.API {
		var err error
		if h.jobs, err = startJobs(ctx, h.cfg, h.addresses.Public, h.stores, h.domains); err != nil {
			return err
		}
	}
	unfollowKeys, unfollowEvents := h.stores.follow(h.cfg.Log), func() {}
	if simulated != nil {
		unfollowEvents = simulated.follow()
	}
	h.unfollow = func() { unfollowEvents(); unfollowKeys() }
	h.servers = serve(open, handlers, receiver, h.cfg.Log)
	return nil
}

// hostname returns the host name of a URL without the port, or "localhost" if the URL
// is invalid. The receiver for incoming mail greets with it.
func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "localhost"
	}
	return u.Hostname()
}

// Addresses returns the addresses of the host. They stay the same until the host stops.
func (h *Host) Addresses() Addresses { return h.addresses }

// DB returns the open database, for code that sets up data in this process. The host
// closes it. Do not use it after [Host.Stop].
func (h *Host) DB() *storage.DB { return h.stores.db }

// Account returns the simulated sending account. Organizations without a connection use
// it. The host closes it.
func (h *Host) Account() *simulator.Simulator { return h.stores.account }

// Sync returns the sync of contact lists without guardrails, for callers that cannot
// wait for its job.
func (h *Host) Sync() *topics.Sync { return h.domains.Sync }

// Domains returns the domains without guardrails, for code that sets up data in this
// process.
func (h *Host) Domains() catalogue.Domains { return h.domains }

// Connections returns the store of the organizations' connections, with secrets
// decrypted. After changing a connection, call [Host.Forget]: this process then uses the
// change at once.
func (h *Host) Connections() sending.Connections { return h.stores.connections }

// Forget removes an organization's connection from the cache of this process. The next
// use of the account reads the connection again. It may be repeated.
func (h *Host) Forget(orgID string) { h.stores.accounts.Forget(orgID) }

// Clock returns the host's clock. Callers that set up data use it, so that all times
// agree.
func (h *Host) Clock() core.Clock { return h.cfg.Clock }

// Failed returns a channel that receives an error when a listener ends by itself. The
// caller must then stop the host.
func (h *Host) Failed() <-chan error { return h.servers.failed }

// Stop stops the host. It stops accepting, waits for calls in flight and for jobs until
// ctx ends, and closes the stores. An error names what was cut off; the host has stopped
// even then.
func (h *Host) Stop(ctx context.Context) error {
	h.readiness.draining.Store(true)
	failures := []error{h.servers.drain(ctx)}
	if h.jobs != nil {
		failures = append(failures, h.jobs.Stop(ctx))
	}
	h.unfollow()
	failures = append(failures, h.servers.close())
	h.spans.Close(ctx)
	h.returnReservations(ctx)
	return errors.Join(append(failures, h.stores.close())...)
}

// returnReservations gives back the reservations of this process, so that other
// processes can take them over. It only logs an error: an unavailable database must not
// prevent the host from stopping.
func (h *Host) returnReservations(ctx context.Context) {
	if h.leave == nil {
		return
	}
	if err := h.leave(ctx); err != nil {
		h.cfg.Log.WarnContext(ctx, "other processes take reservations over a few seconds late", "error", err)
	}
}
