package product

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/repository"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/site"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// Product is a running product with its demo data.
type Product struct {
	// BaseURL is the URL of the public API, AuthURL of the authorization server, AppURL of
	// the dashboard and MCPURL of the agent endpoint. FetchURL is the URL for reading
	// temporary inboxes, AssetURL for images, DocsURL for documentation, and AdminURL for
	// the overview of the server, metrics and health checks.
	BaseURL, AuthURL, AppURL, MCPURL, FetchURL, AssetURL, DocsURL, AdminURL string
	// SMTPAddr is host:port at which the product itself accepts SMTP connections.
	SMTPAddr string

	// Org is the demo organization.
	Org
	// Other is a second organization with its own credentials and one contact. The demo
	// organization must not see the data of this organization.
	Other Org

	// UserEmail and UserPassword are for signing in to the dashboard as the demo user.
	UserEmail, UserPassword string
	// Mailbox receives the product's mail to its users; nil unless Options.Mail is set.
	Mailbox *Mailbox

	// DataDir is the data folder of the product. It has all stored data, except those in a
	// PostgreSQL database.
	DataDir string
	// Simulator is the simulated sending account. Tests can make it fail.
	Simulator *simulator.Simulator
	// DB is the product's database. Tests use it to store data that no call can create.
	DB *storage.DB
	// Webhooks manages webhook endpoints.
	Webhooks webhooks.Webhooks
	// Workflows changes workflows as people do on the dashboard.
	Workflows *workflows.Workflows
	// Site changes site keys and takes beacons of websites.
	Site *site.Parts
	// Repository connects Git repositories.
	Repository *repository.Parts
	// Connections stores the settings and encrypted secrets of the organizations' sending
	// accounts. An organization without a stored connection sends with Simulator.
	Connections sending.Connections
	// Clock is the clock that every part of the product uses.
	Clock *Clock
	// HTTP is a client for requests to the product. It does not follow redirects. Its idle
	// connections are closed when the test ends.
	HTTP *http.Client

	host     *serve.Host
	config   config.Config
	database string // URL of the PostgreSQL database; "" for SQLite
}

// Org is an organization, with credentials that have all scopes.
type Org struct {
	// OrgID is the id of the organization in the database.
	OrgID string
	// Live and Test are the credentials for the live and the test environment.
	Live Credentials
	Test Credentials
	// Contact is the e-mail address of one contact of the organization.
	Contact string
}

// Credentials are an OAuth client and an API key for one environment, live or test.
type Credentials struct{ ClientID, ClientSecret, APIKey string }

const (
	// stopTimeout limits how long a product may take to finish its running calls and jobs
	// when it stops.
	stopTimeout = 10 * time.Second
	// requestTimeout is the time limit of each request of [Product.HTTP], and of the
	// product's own waits for the database and for Redis.
	requestTimeout = 30 * time.Second
	databaseConns  = 12 // small, because all products share the connections of one PostgreSQL server
)

// Start starts a product and stops it when the test ends. It fails the test if the product
// does not start. A test can start several products. Each has its own ports and data
// folder. Each also has its own database, unless Options.Beside names another product whose
// database it uses.
func Start(t testing.TB, opts Options) *Product {
	t.Helper()
	quiet()
	clock := NewClock()
	if !opts.StartsAt.IsZero() {
		clock.Advance(opts.StartsAt.Sub(clock.Now()))
	}
	if opts.Beside != nil {
		clock = opts.Beside.Clock
	}
	cfg := newConfig(t, opts, clock)
	if opts.Role == config.Worker {
		cfg.Public = opts.Beside.host.Addresses().Public // a worker has no addresses of its own
	}
	var mailbox *Mailbox
	if opts.Mail {
		mailbox = newMailbox(t)
		cfg.SystemSMTP, cfg.SystemFrom = mailbox.url(), mailSender
	}
	seeded := prepare(t, opts, &cfg)
	h, err := serve.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	if opts.RateLimit != nil {
		if err := h.DB().Orgs().SetRateLimit(t.Context(), seeded.demo.OrgID, opts.RateLimit); err != nil {
			t.Fatalf("product: %v", err)
		}
	}
	p := &Product{
		Mailbox: mailbox, config: cfg, database: cmp.Or(cfg.DatabaseDirectURL, cfg.DatabaseURL),
		Org: seeded.demo, Other: seeded.other, UserEmail: seeded.userEmail, UserPassword: seeded.userPassword,
		DataDir: cfg.DataDir, Clock: clock, HTTP: &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: noRedirect},
	}
	p.use(h)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		p.stop(t)
	})
	if opts.Past {
		p.MakePast(t)
	}
	return p
}

// use sets the fields of the product that belong to a running host.
func (p *Product) use(h *serve.Host) {
	a := h.Addresses()
	p.host = h
	p.BaseURL, p.AuthURL, p.AppURL, p.MCPURL, p.FetchURL, p.AssetURL, p.DocsURL = a.API, a.Auth, a.App, a.MCP, a.Fetch, a.Asset, a.Docs
	p.AdminURL, p.SMTPAddr = a.Admin, a.SMTP
	p.Simulator, p.DB, p.Connections, p.Webhooks = h.Account(), h.DB(), h.Connections(), h.Webhooks()
	p.Workflows, p.Site, p.Repository = h.Domains().Workflows, h.Site(), h.Repository()
}

// stop stops the host. It does not use t.Context, which has ended in a cleanup.
func (p *Product) stop(t testing.TB) {
	t.Helper()
	if p.host == nil {
		return // stopped before
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := p.host.Stop(ctx); err != nil {
		t.Errorf("product: stop: %v", err)
	}
}

// Restart stops the product and starts it again with the same data. It may then have other
// addresses, and [Product.Simulator] no longer fails as tests told it.
func (p *Product) Restart(t testing.TB) {
	t.Helper()
	p.HTTP.CloseIdleConnections()
	p.stop(t)
	h, err := serve.Start(t.Context(), p.config)
	if err != nil {
		t.Fatalf("product: start again: %v", err)
	}
	p.use(h)
}

// quiet discards the logs of libraries, so that the output of tests stays readable.
var quiet = sync.OnceFunc(func() { slog.SetDefault(slog.New(slog.DiscardHandler)) })

// noRedirect makes an HTTP client return a redirect instead of following it.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// logger returns a logger that writes JSON lines, including debug messages, to the given
// writer. For nil it discards them.
func logger(to io.Writer) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Once runs a test against a product on SQLite, in parallel with other tests. It is for
// behaviour that does not depend on the kind of database; see core/doc/decisions, page
// 0072. With MAILHELM_TEST_FULL=1 it runs the test on PostgreSQL too.
func Once(t *testing.T, test func(t *testing.T, p *Product)) {
	t.Helper()
	OnceWith(t, Options{}, test)
}

// OnceWith runs a test like Once, against a product with the given options. It ignores
// opts.Postgres.
func OnceWith(t *testing.T, opts Options, test func(t *testing.T, p *Product)) {
	t.Helper()
	if enginetest.Full() {
		EachWith(t, opts, test)
		return
	}
	opts.Postgres = false
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, Start(t, opts))
	})
}

// Each runs a test against a product on SQLite and against one on PostgreSQL. The two
// run in parallel, as the subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, p *Product)) {
	t.Helper()
	EachWith(t, Options{}, test)
}

// EachWith runs a test like Each, on SQLite and on PostgreSQL, against products with the
// given options. It ignores opts.Postgres.
func EachWith(t *testing.T, opts Options, test func(t *testing.T, p *Product)) {
	t.Helper()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		own := opts // a copy, because the subtests run in parallel
		own.Postgres = postgres
		test(t, Start(t, own))
	})
}
