package product

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// Options configures a product. The zero value is SQLite without a rate limit.
type Options struct {
	// Postgres stores data in a new PostgreSQL database of the shared server instead of
	// SQLite.
	Postgres bool
	// PostgresURL is an empty database to use instead of a new one of the shared server.
	// Start migrates and fills it. It has no effect unless Postgres is set.
	PostgresURL string
	// Beside is a product on PostgreSQL whose database and clock this one shares, like a
	// second server; nil means a database of its own.
	Beside *Product
	// Past gives the demo organization a connected account and 90 days of mail, as in
	// the demo. This takes a second or two.
	Past bool
	// Recipients is the behaviour of the recipients of simulated mail; the zero value
	// delivers all of it.
	Recipients simulator.Behaviour
	// RateLimit is the number of calls a minute of the demo organization; nil means no
	// limit.
	RateLimit *int
	// ActivitiesPerMinute is the number of activities a minute that an organization may
	// send; 0 means the default.
	ActivitiesPerMinute int
	// CallerWait is how long calls wait for a database connection before they fail; 0
	// means a long time, because few tests are about a busy machine.
	CallerWait time.Duration
	// Mail starts an SMTP server for the product's mail to people; see
	// [Product.Mailbox].
	Mail bool
	// AllowedOrigins are the browser origins that may call the agent endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves.
	DynamicRegistration bool
	// ClientDocumentCAs signed the certificates of hosts with metadata documents of
	// clients, which may then be on the loopback. nil means the system's CAs, and no
	// loopback.
	ClientDocumentCAs *x509.CertPool
	// Topics answers the product's requests to Amazon SNS, with certificates signed by
	// TopicCAs; if nil, there is no answer.
	Topics   http.RoundTripper
	TopicCAs *x509.CertPool
	// Operations are added to those of the product, such as stand-ins for tools that are
	// declared and not yet implemented.
	Operations []core.Operation
	// OTLPEndpoint is a collector on the loopback that receives spans; "" disables
	// spans.
	OTLPEndpoint string
	// RedisURL is the Redis in which the product shares rate limits with others; ""
	// means that it does not share them.
	RedisURL string
	// Log receives the product's log, at debug level, as JSON lines; nil discards it.
	// One goroutine at a time writes to it until the product has stopped.
	Log io.Writer
}

// Product is a running product with its demo data.
type Product struct {
	// The URLs of the public API (BaseURL), the authorization server, the dashboard
	// (AppURL) and the agent endpoint (MCPURL). The others are the pull host for
	// temporary inboxes, the documentation and the operator's listener.
	BaseURL, AuthURL, AppURL, MCPURL, FetchURL, DocsURL, AdminURL string
	// SMTPAddr is host:port of the product's SMTP listener.
	SMTPAddr string

	// Org is the demo organization.
	Org
	// Other is a second organization, with its own credentials and one contact. The
	// first organization must not reach its data.
	Other Org

	// UserEmail and UserPassword sign the demo user in at the dashboard.
	UserEmail, UserPassword string
	// Mailbox receives the product's mail to people; nil unless Options.Mail is set.
	Mailbox *Mailbox

	// DataDir is the folder with all stored data of the product, except a PostgreSQL
	// database.
	DataDir string
	// Simulator is the sending account; tests use it to cause failures.
	Simulator *simulator.Simulator
	// DB is the product's own open database, for data that no call can create.
	DB *storage.DB
	// Connections stores the accounts of organizations, with the key that opens their
	// secrets. Until a test saves a connection, every organization uses Simulator.
	Connections sending.Connections
	// Clock is the clock of the whole product.
	Clock *Clock
	// HTTP is a client whose connections end with the test.
	HTTP *http.Client

	host     *serve.Host
	database string // address of PostgreSQL, "" for SQLite
}

// Org is an organization with credentials that hold every scope.
type Org struct {
	// OrgID is the id in the database, as core.NewID mints it.
	OrgID string
	// Live and Test are the credentials of the two environments.
	Live Credentials
	Test Credentials
	// Contact is the address of one of its contacts.
	Contact string
}

// Credentials are an OAuth client and an API key of one environment.
type Credentials struct{ ClientID, ClientSecret, APIKey string }

const (
	// stopTimeout limits the wait for calls and jobs in flight when a product stops.
	stopTimeout = 10 * time.Second
	// requestTimeout limits each request of [Product.HTTP], and the product's own waits
	// for the database and for Redis.
	requestTimeout = 30 * time.Second
	databaseConns  = 12 // each product has a pool, and all pools share the server's limit
)

// Start starts a product that stops with the test. It fails the test if the product does
// not start. Several products may run at once: each has its own ports, data folder and,
// without Options.Beside, database.
func Start(t testing.TB, opts Options) *Product {
	t.Helper()
	quiet()
	clock := NewClock()
	if opts.Beside != nil {
		clock = opts.Beside.Clock
	}
	cfg := config.Config{
		DataDir: storagetest.Folder(t), Listen: config.AnyPorts(), MaxConns: databaseConns, AllowedOrigins: opts.AllowedOrigins,
		Build: config.Build{Version: "test", Commit: "unknown"}, Clock: clock.Now, Log: logger(opts.Log),
	}
	cfg.CallerWait = cmp.Or(opts.CallerWait, requestTimeout)
	cfg.OTLPEndpoint, cfg.Recipients = opts.OTLPEndpoint, opts.Recipients
	cfg.Operations, cfg.ActivitiesPerMinute = opts.Operations, opts.ActivitiesPerMinute
	cfg.DynamicRegistration, cfg.ClientDocumentCAs = opts.DynamicRegistration, opts.ClientDocumentCAs
	var mailbox *Mailbox
	if opts.Mail {
		mailbox = newMailbox(t)
		cfg.SystemSMTP, cfg.SystemFrom = mailbox.url(), mailSender
	}
	if opts.ClientDocumentCAs != nil {
		cfg.ClientDocumentNetworks = []string{"127.0.0.0/8"}
	}
	// The timeout is long, so that a busy machine does not affect tests of shared
	// limits.
	cfg.RedisURL, cfg.RedisTimeout = opts.RedisURL, requestTimeout
	seeded := prepare(t, opts, &cfg)
	cfg.AmazonClient, cfg.NotificationCAs = amazon(t, opts.Topics), opts.TopicCAs
	h, err := serve.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Errorf("product: stop: %v", err)
		}
	})
	if opts.RateLimit != nil {
		if err := h.DB().Orgs().SetRateLimit(t.Context(), seeded.demo.OrgID, opts.RateLimit); err != nil {
			t.Fatalf("product: %v", err)
		}
	}
	a := h.Addresses()
	p := &Product{
		Mailbox: mailbox,
		host:    h, database: cfg.DatabaseURL,
		BaseURL: a.API, AuthURL: a.Auth, AppURL: a.App, MCPURL: a.MCP, FetchURL: a.Fetch, DocsURL: a.Docs,
		AdminURL: a.Admin, SMTPAddr: a.SMTP,
		Org: seeded.demo, Other: seeded.other, UserEmail: seeded.userEmail, UserPassword: seeded.userPassword,
		DataDir: cfg.DataDir, Simulator: h.Account(), DB: h.DB(), Connections: h.Connections(), Clock: clock,
		HTTP: &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: noRedirect},
	}
	if opts.Past {
		p.MakePast(t)
	}
	return p
}

// quiet discards the logs of libraries, which would hide the output of tests.
var quiet = sync.OnceFunc(func() { slog.SetDefault(slog.New(slog.DiscardHandler)) })

// noRedirect makes the client return a redirect instead of following it.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// logger returns the product's logger; see [Options.Log].
func logger(to io.Writer) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Once runs a test against a product on SQLite, and on both databases in a full run. It
// is for behaviour that cannot depend on the database (core/doc/decisions/0072). The
// test runs in parallel with others.
func Once(t *testing.T, test func(t *testing.T, p *Product)) {
	t.Helper()
	OnceWith(t, Options{}, test)
}

// OnceWith runs a test with options, as Once does; their Postgres is ignored.
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

// EachWith runs a test with options, as Each does; their Postgres is ignored.
func EachWith(t *testing.T, opts Options, test func(t *testing.T, p *Product)) {
	t.Helper()
	for _, postgres := range []bool{false, true} {
		name := "sqlite"
		if postgres {
			name = "postgres"
		}
		own := opts // the tests run after the loop has ended
		own.Postgres = postgres
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Start(t, own))
		})
	}
}

// prepare writes the demo data to the data folder, and to the PostgreSQL database if one
// is used.
func prepare(t testing.TB, opts Options, cfg *config.Config) seeded {
	t.Helper()
	filled, err := filledTemplate()
	if err != nil {
		t.Fatalf("product: demo data: %v", err)
	}
	cfg.MasterKey = masterKey
	if opts.Beside != nil {
		cfg.DatabaseURL = opts.Beside.database
	} else if opts.Postgres {
		if cfg.DatabaseURL = opts.PostgresURL; cfg.DatabaseURL == "" {
			cfg.DatabaseURL = storagetest.PostgresURL(t)
		} else if err := migrate(t.Context(), *cfg); err != nil {
			t.Fatalf("product: %v", err)
		}
		err = fillPostgres(t.Context(), cfg.DatabaseURL, filled.tables)
	}
	if err = errors.Join(err, filled.copyTo(cfg.DataDir)); err != nil {
		t.Fatalf("product: demo data: %v", err)
	}
	return filled.seeded
}

// migrate creates the schema in an empty PostgreSQL database and closes the connection.
func migrate(ctx context.Context, cfg config.Config) error {
	db, err := storage.Open(ctx, serve.StorageOf(cfg))
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// amazon returns the HTTP client that the product uses for Amazon in a test.
func amazon(t testing.TB, topics http.RoundTripper) *http.Client {
	t.Helper()
	client := ses.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	client.Transport = noAmazon{client.Transport, topics}
	return client
}

// noAmazon refuses every request but those to a server of the test, so that no test
// calls Amazon. here connects to the loopback; topics is [Options.Topics] and may be
// nil.
type noAmazon struct{ here, topics http.RoundTripper }

// RoundTrip uses here for loopback addresses, and topics for hosts of Amazon SNS. It
// answers any other request with the 403 that Amazon SES returns for unknown
// credentials.
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
