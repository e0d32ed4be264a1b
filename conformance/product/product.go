package product

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/repository"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/site"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// Options configures a product. The zero value means SQLite and no rate limit.
type Options struct {
	// Postgres stores the data in PostgreSQL instead of SQLite. It uses a new database on a
	// PostgreSQL server that all tests share.
	Postgres bool
	// PostgresURL is an empty PostgreSQL database to use instead of a new one. Start creates
	// the schema and the demo data in it. It has no effect unless Postgres is set.
	PostgresURL string
	// Beside is a product on PostgreSQL. The new product shares its database and clock, like
	// a second server of one installation. nil means a database of its own.
	Beside *Product
	// Past gives the demo organization a connected sending account and 90 days of sent mail,
	// as `mailhelm demo` does. This takes a second or two.
	Past bool
	// StartsAt is the time that the product's clock shows at the start. The zero value means
	// the machine's time. Tests set it whose results depend on the date. It has no effect
	// together with Beside.
	StartsAt time.Time
	// Recipients says how the recipients of simulated mail behave, such as how many
	// addresses bounce. The zero value delivers all mail.
	Recipients simulator.Behaviour
	// KeptMails is the number of messages that the simulated account keeps with their
	// content; see [config.Config]. Tests that measure sending set -1, which keeps none.
	KeptMails int
	// RateLimit is the number of calls a minute that the demo organization may make; nil
	// means no limit.
	RateLimit *int
	// ActivitiesPerMinute is the number of activities a minute that an organization may
	// record; 0 means the default.
	ActivitiesPerMinute int
	// CallerWait is how long a call waits for a database connection before it fails. 0 means
	// 30 seconds, so that tests do not fail on a busy machine.
	CallerWait time.Duration
	// Mail starts an SMTP server that receives the product's mail to its users. The messages
	// are in [Product.Mailbox].
	Mail bool
	// DNS is the address of the name server for the checks of received mail, and for the records
	// of domains whose DMARC reports are read; "" means that neither is asked for.
	DNS string
	// RspamdURL and Clamd are the addresses of the scanners of received mail; "" means none.
	RspamdURL, Clamd string
	// NoMailHost starts the product without the host name that MX records of receiving domains
	// name, so that it receives no mail for domains.
	NoMailHost bool
	// InboxDomain is the domain of temporary inboxes and of the addresses for DMARC reports; ""
	// means inbox.localhost, to which no receiver of mail can report.
	InboxDomain string
	// ReceiveRegions are the regions in which Amazon SES receives mail for domains.
	ReceiveRegions []string
	// LoopbackBuckets lets organizations keep received mail in buckets on the loopback interface.
	LoopbackBuckets bool
	// GitFolder is the folder below which repositories of definitions may be. GitCAs are the CAs to
	// trust for servers of repositories. If set, they may also be on the loopback interface.
	GitFolder string
	GitCAs    *x509.CertPool
	// GitHub has the app with which organizations connect repositories on GitHub.
	GitHub config.GitHub
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []string
	// AllowedOrigins are the origins whose web pages may call the agent endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves.
	DynamicRegistration bool
	// ClientDocumentCAs are the CAs to trust when the product fetches OAuth client metadata
	// documents. If set, the product also fetches them from the loopback interface. nil
	// means the system's CAs.
	ClientDocumentCAs *x509.CertPool
	// WebhookCAs are the CAs to trust for webhook endpoints. If set, endpoints may also be on
	// the loopback interface. nil means the system's CAs.
	WebhookCAs *x509.CertPool
	// WebhookNames looks up the hosts of webhooks when they are saved and published, and
	// WebhookResolver when messages are sent to them; nil means name servers of the test.
	WebhookNames, WebhookResolver *net.Resolver
	// WebhookTimeout limits an attempt to send a webhook; 0 means ten seconds.
	WebhookTimeout time.Duration
	// Topics answers the product's requests to Amazon SNS; if nil, they get status 403.
	// TopicCAs are the CAs to trust for certificates that sign SNS messages.
	Topics   http.RoundTripper
	TopicCAs *x509.CertPool
	// Operations are offered together with the operations of the product, and replace those
	// with the same names. Tests declare operations here for features that no operation of
	// the product uses.
	Operations []core.Operation
	// OTLPEndpoint is the URL of an OpenTelemetry collector that receives the product's
	// spans; "" turns spans off.
	OTLPEndpoint string
	// RedisURL is the URL of a Redis server in which several products share rate limits. ""
	// means that each product counts calls by itself.
	RedisURL string
	// Log receives the product's log as JSON lines, including debug messages. The product
	// writes to Log from one goroutine at a time, and no longer after it has stopped. nil
	// discards the log.
	Log io.Writer
}

// Product is a running product with its demo data.
type Product struct {
	// BaseURL is the URL of the public API, AuthURL of the authorization server, AppURL of
	// the dashboard and MCPURL of the agent endpoint. FetchURL is the URL for reading
	// temporary inboxes, AssetURL for images, DocsURL for documentation, and AdminURL for
	// metrics and health checks.
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
	cfg := config.Config{
		DataDir: storagetest.Folder(t), Listen: configtest.AnyPorts(), MaxConns: databaseConns, AllowedOrigins: opts.AllowedOrigins,
		Build: config.Build{Version: "test", Commit: "unknown"}, Clock: clock.Now, Log: slog.New(checkDeclared(t, logger(opts.Log).Handler(), opts.Operations)),
	}
	cfg.PasswordCost = passwords.LeastCost()
	cfg.CallerWait = cmp.Or(opts.CallerWait, requestTimeout)
	cfg.OTLPEndpoint, cfg.Recipients, cfg.KeptMails = opts.OTLPEndpoint, opts.Recipients, opts.KeptMails
	cfg.Operations, cfg.ActivitiesPerMinute = opts.Operations, opts.ActivitiesPerMinute
	cfg.DNSServers = []string{"none"}
	if opts.DNS != "" {
		cfg.DNSServers, cfg.PollSimulated = []string{opts.DNS}, true
	}
	cfg.InboxDomain, cfg.TrustedProxies = opts.InboxDomain, opts.TrustedProxies
	cfg.MailHost, cfg.ReceiveSESRegions = opts.mailHost(), opts.ReceiveRegions
	cfg.RspamdURL, cfg.Clamd = opts.RspamdURL, opts.Clamd
	if opts.LoopbackBuckets {
		cfg.BucketNetworks = []string{"127.0.0.0/8"}
	}
	setRepositories(opts, &cfg)
	setWebhooks(t, opts, &cfg)
	cfg.PagesPerMinute = 1 << 30 // a test requests pages faster than a person
	cfg.DynamicRegistration, cfg.ClientDocumentCAs = opts.DynamicRegistration, opts.ClientDocumentCAs
	var mailbox *Mailbox
	if opts.Mail {
		mailbox = newMailbox(t)
		cfg.SystemSMTP, cfg.SystemFrom = mailbox.url(), mailSender
	}
	if opts.ClientDocumentCAs != nil {
		cfg.ClientDocumentNetworks = []string{"127.0.0.0/8"}
	}
	// The timeout is long, so that a slow answer of Redis on a busy machine does not change
	// the result of a test.
	cfg.RedisURL, cfg.RedisTimeout = opts.RedisURL, requestTimeout
	seeded := prepare(t, opts, &cfg)
	cfg.AmazonClient, cfg.NotificationCAs = amazon(t, opts.Topics), opts.TopicCAs
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
		Mailbox: mailbox, config: cfg, database: cfg.DatabaseURL,
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

// setRepositories sets which Git repositories can be connected.
func setRepositories(opts Options, cfg *config.Config) {
	if cfg.GitFolder, cfg.GitCAs = opts.GitFolder, opts.GitCAs; cfg.GitCAs != nil {
		cfg.GitNetworks = []string{"127.0.0.0/8"}
	}
	cfg.GitHub = opts.GitHub
}

// setWebhooks sets how webhooks are sent. Their hosts have public addresses when they are checked,
// and no address when messages are sent, so that no test reaches the Internet. Literal addresses
// are looked up nowhere.
func setWebhooks(t testing.TB, opts Options, cfg *config.Config) {
	cfg.WebhookNames, cfg.WebhookResolver = outboundtest.NewNames(t, "93.184.215.14").Resolver(), outboundtest.NewNames(t, "").Resolver()
	if opts.WebhookNames != nil {
		cfg.WebhookNames, cfg.WebhookResolver = opts.WebhookNames, opts.WebhookResolver
	}
	if cfg.WebhookCAs = opts.WebhookCAs; cfg.WebhookCAs != nil {
		cfg.WebhookNetworks = []string{"127.0.0.0/8"}
	}
	cfg.WebhookTimeout = opts.WebhookTimeout
}

// mailHost returns the host name that MX records of receiving domains name.
func (o Options) mailHost() string {
	if o.NoMailHost {
		return ""
	}
	return "mx.example.net"
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
	if storagetest.Full() {
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
	storagetest.EachEngine(t, func(t *testing.T, postgres bool) {
		own := opts // a copy, because the subtests run in parallel
		own.Postgres = postgres
		test(t, Start(t, own))
	})
}

// prepare writes the demo data to the data folder of a new product and, for a product with
// a PostgreSQL database of its own, to that database. It sets the master key and the
// database URL in cfg.
func prepare(t testing.TB, opts Options, cfg *config.Config) seedResult {
	t.Helper()
	if !opts.copiesPast() || !copyPast(t, cfg.DataDir) {
		demoTemplate.folder.CopyTo(t, cfg.DataDir)
	}
	cfg.MasterKey = masterKey
	switch {
	case opts.Beside != nil:
		cfg.DatabaseURL = opts.Beside.database
	case opts.Postgres && opts.PostgresURL != "":
		cfg.DatabaseURL = opts.PostgresURL
		if err := errors.Join(migrate(t.Context(), *cfg), demoTemplate.fill(t.Context(), cfg.DatabaseURL)); err != nil {
			t.Fatalf("product: demo data: %v", err)
		}
	case opts.Postgres:
		cfg.DatabaseURL = demoTemplate.postgres.URL(t)
	}
	return demoTemplate.seedResult
}

// migrate creates the schema in an empty PostgreSQL database and closes the connection.
func migrate(ctx context.Context, cfg config.Config) error {
	db, err := storage.Open(ctx, serve.StorageOf(cfg))
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// amazon returns the HTTP client with which the product sends requests to Amazon. The
// client never connects to a host of Amazon; see noAmazon.
func amazon(t testing.TB, topics http.RoundTripper) *http.Client {
	t.Helper()
	client := ses.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	client.Transport = noAmazon{client.Transport, topics}
	return client
}

// noAmazon is an HTTP transport for requests to Amazon that never reaches Amazon. It sends
// requests for the loopback interface with the transport here, and requests for Amazon SNS
// with the transport topics. It refuses other requests. topics may be nil; then it refuses
// requests for SNS too.
type noAmazon struct{ here, topics http.RoundTripper }

// RoundTrip sends requests for loopback addresses with the transport here. It sends
// requests for Amazon SNS with the transport topics, if that is not nil. It answers all
// other requests with status 403, as Amazon SES does for unknown credentials.
func (n noAmazon) RoundTrip(r *http.Request) (*http.Response, error) {
	if ip, err := netip.ParseAddr(r.URL.Hostname()); err == nil && ip.IsLoopback() {
		return n.here.RoundTrip(r)
	}
	if n.topics != nil && strings.HasPrefix(r.URL.Host, "sns.") {
		return n.topics.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"X-Amzn-Errortype": {"UnrecognizedClientException"}}, Body: http.NoBody,
	}, nil
}
