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

// Options of a product. The zero value is SQLite without a rate limit.
type Options struct {
	Postgres bool
	// PostgresURL is an empty database to use instead of a new one of the shared server.
	PostgresURL string
	// Beside is a product on PostgreSQL whose database and clock this one shares, as a
	// second server would; nil means a database of its own.
	Beside *Product
	// Past gives the demo organization a connected account and 90 days of mail, as the
	// demo has them, which takes a second or two.
	Past bool
	// Recipients is what becomes of mail that the simulator sends; the zero value has
	// all of it delivered.
	Recipients simulator.Behaviour
	// RateLimit is the demo organization's calls a minute; nil means none.
	RateLimit *int
	// ActivitiesPerMinute is how many an organization may send; 0 means the default.
	ActivitiesPerMinute int
	// CallerWait is how long calls wait for a connection to the database before they are
	// turned away; 0 is long, because few tests are about a machine that is busy.
	CallerWait time.Duration
	// Mail gives the product a server for mail to people; see [Product.Mailbox].
	Mail bool
	// AllowedOrigins are the browser origins that may call the agent endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves.
	DynamicRegistration bool
	// ClientDocumentCAs sign for hosts with metadata documents of clients, which may
	// then be on the loopback; nil means the system's, and no loopback.
	ClientDocumentCAs *x509.CertPool
	// Topics answers what the product asks of Amazon SNS, whose certificates TopicCAs
	// sign; with nil nobody answers.
	Topics   http.RoundTripper
	TopicCAs *x509.CertPool
	// Operations are mounted in the product behind its own, such as stand-ins for tools
	// that the product promises and does not have yet.
	Operations []core.Operation
	// OTLPEndpoint is a collector on the loopback that gets spans; "" makes none.
	OTLPEndpoint string
	// RedisURL is where the product shares rate limits with others; "" means that it
	// does not.
	RedisURL string
	// Log gets the product's log, at debug level, as JSON lines; nil discards it.
	// It is written to by one goroutine at a time until the product has ended.
	Log io.Writer
}

// Product is a running product with its demo data.
type Product struct {
	BaseURL, AuthURL, AppURL, MCPURL, FetchURL, DocsURL, AdminURL string
	SMTPAddr                                                      string

	Org
	// Other is a second organization, with credentials of its own and one
	// contact, whose things the first must not reach.
	Other Org

	UserEmail, UserPassword string
	// Mailbox gets the mail of the product to people; nil unless Options has Mail.
	Mailbox *Mailbox

	// DataDir is the folder with everything that the product keeps, but for a
	// database of PostgreSQL.
	DataDir string
	// Simulator is the sending account, for its faults.
	Simulator *simulator.Simulator
	DB        *storage.DB
	// Connections are where the product looks for organizations' accounts, with the
	// key that opens their secrets. Until a test saves one, everybody's is Simulator.
	Connections sending.Connections
	// Clock is the time as the whole product sees it.
	Clock *Clock
	// HTTP is a client whose connections end with the test.
	HTTP *http.Client

	host     *serve.Host
	database string // address of PostgreSQL, "" for SQLite
}

// Org is an organization with credentials that hold every scope.
type Org struct {
	OrgID string
	Live  Credentials
	Test  Credentials
	// Contact is the address of one of its contacts.
	Contact string
}

// Credentials are an OAuth client and an API key of one environment.
type Credentials struct{ ClientID, ClientSecret, APIKey string }

const (
	stopTimeout    = 10 * time.Second
	requestTimeout = 30 * time.Second
	databaseConns  = 12 // each product has a pool, and all share the server's limit
)

// Start starts a product that ends with the test.
func Start(t testing.TB, opts Options) *Product {
	t.Helper()
	quiet()
	clock := NewClock()
	if opts.Beside != nil {
		clock = opts.Beside.Clock
	}
	cfg := config.Config{
		DataDir: t.TempDir(), Listen: config.AnyPorts(), MaxConns: databaseConns, AllowedOrigins: opts.AllowedOrigins,
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
	// A busy machine is not what a test of shared limits is about.
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

// quiet: libraries that log by themselves would drown what a test has to say.
var quiet = sync.OnceFunc(func() { slog.SetDefault(slog.New(slog.DiscardHandler)) })

// noRedirect shows a test the answer itself.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func logger(to io.Writer) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Once runs a test against a product on SQLite, and on both databases in a full run. It is
// for what the databases cannot answer differently (core/doc/decisions/0072).
func Once(t *testing.T, test func(t *testing.T, p *Product)) {
	t.Helper()
	OnceWith(t, Options{}, test)
}

// OnceWith is Once with options; their Postgres is ignored.
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

// Each runs a test against a product on SQLite and against one on PostgreSQL.
func Each(t *testing.T, test func(t *testing.T, p *Product)) {
	t.Helper()
	EachWith(t, Options{}, test)
}

// EachWith is Each with options; their Postgres is ignored.
func EachWith(t *testing.T, opts Options, test func(t *testing.T, p *Product)) {
	t.Helper()
	for _, postgres := range []bool{false, true} {
		name := "sqlite"
		if postgres {
			name = "postgres"
		}
		own := opts // the tests run when the loop is over
		own.Postgres = postgres
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Start(t, own))
		})
	}
}

// prepare fills the data folder, and the database of PostgreSQL, with the demo data.
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

func migrate(ctx context.Context, cfg config.Config) error {
	db, err := storage.Open(ctx, serve.StorageOf(cfg))
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// amazon is how the product asks Amazon in a test.
func amazon(t testing.TB, topics http.RoundTripper) *http.Client {
	t.Helper()
	client := ses.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	client.Transport = noAmazon{client.Transport, topics}
	return client
}

// noAmazon refuses every call but those to a server of the test's own, so that no
// test asks Amazon itself.
type noAmazon struct{ here, topics http.RoundTripper }

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
