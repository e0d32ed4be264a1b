package product

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// Options configures a product. The zero value means SQLite and no rate limit.
type Options struct {
	// Postgres stores the data in PostgreSQL instead of SQLite. It uses a new database on a
	// PostgreSQL server that all tests share.
	Postgres bool
	// PostgresURL is an empty PostgreSQL database to use instead of a new one. Start creates
	// the schema and the demo data in it. It has no effect unless Postgres is set.
	PostgresURL string
	// ReplicaURL is a standby of the database PostgresURL, for expensive reads; "" means none.
	ReplicaURL string
	// Beside is a product on PostgreSQL. The new product shares its database and clock, like
	// a second server of one installation. nil means a database of its own.
	Beside *Product
	// Role says what the process does; "" means everything. A process of another role needs
	// PostgreSQL, and a worker needs Beside.
	Role config.Role
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
	// GitHub has the settings of the app on GitHub; the zero value means that there is no app.
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

// mailHost returns the host name that MX records of receiving domains name.
func (o Options) mailHost() string {
	if o.NoMailHost {
		return ""
	}
	return "mx.example.net"
}
