package product

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// newConfig returns the configuration of a product with an empty data folder, except for the settings
// that follow from the demo data and from the product's mailbox.
func newConfig(t testing.TB, opts Options, clock *Clock) config.Config {
	cfg := config.Config{
		Role: opts.Role, DataDir: enginetest.Folder(t), Listen: configtest.AnyPorts(), MaxConns: databaseConns, AllowedOrigins: opts.AllowedOrigins,
		Build: config.Build{Version: "test", Commit: "unknown"}, Clock: clock.Now, Log: slog.New(checkDeclared(t, logger(opts.Log).Handler(), opts.Operations)),
	}
	cfg.PasswordCost = passwords.LeastCost()
	cfg.CallerWait = cmp.Or(opts.CallerWait, requestTimeout)
	cfg.OTLPEndpoint, cfg.Recipients, cfg.KeptMails = opts.OTLPEndpoint, opts.Recipients, opts.KeptMails
	cfg.Operations, cfg.ActivitiesPerMinute = opts.Operations, opts.ActivitiesPerMinute
	cfg.PagesPerMinute = 1 << 30 // a test requests pages faster than a person
	cfg.TrustedProxies = opts.TrustedProxies
	cfg.DynamicRegistration, cfg.ClientDocumentCAs = opts.DynamicRegistration, opts.ClientDocumentCAs
	if opts.ClientDocumentCAs != nil {
		cfg.ClientDocumentNetworks = []string{"127.0.0.0/8"}
	}
	// The timeout is long, so that a slow answer of Redis on a busy machine does not change
	// the result of a test.
	cfg.RedisURL, cfg.RedisTimeout = opts.RedisURL, requestTimeout
	cfg.AmazonClient, cfg.NotificationCAs = amazon(t, opts.Topics), opts.TopicCAs
	setReceiving(opts, &cfg)
	setRepositories(opts, &cfg)
	setWebhooks(t, opts, &cfg)
	return cfg
}

// setReceiving sets which mail is received, how it is checked, and where it is kept.
func setReceiving(opts Options, cfg *config.Config) {
	cfg.DNSServers = []string{"none"}
	if opts.DNS != "" {
		cfg.DNSServers, cfg.PollSimulated = []string{opts.DNS}, true
	}
	cfg.InboxDomain, cfg.MailHost, cfg.ReceiveSESRegions = opts.InboxDomain, opts.mailHost(), opts.ReceiveRegions
	cfg.RspamdURL, cfg.Clamd = opts.RspamdURL, opts.Clamd
	if opts.LoopbackBuckets {
		cfg.BucketNetworks = []string{"127.0.0.0/8"}
	}
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
	if opts.WebhookCAs != nil {
		cfg.WebhookCAs = func() *x509.CertPool { return opts.WebhookCAs }
		cfg.WebhookNetworks = []string{"127.0.0.0/8"}
	}
	cfg.WebhookTimeout = opts.WebhookTimeout
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
	cfg.DatabaseReplicaURL = opts.ReplicaURL
	if cfg.DatabaseURL != "" && enginetest.PgBouncerForAll() {
		cfg.DatabaseDirectURL = cfg.DatabaseURL
		cfg.DatabaseURL = enginetest.PgBouncer(t, cfg.DatabaseDirectURL, enginetest.PgBouncerConfig{}).URL(cfg.DatabaseDirectURL)
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
