package config

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/tracing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// Role selects what a process does.
type Role string

// The roles of a process. A process with the role api answers calls. A process with the
// role worker runs background jobs and listens only on its admin address. The role all
// means both.
const (
	All    Role = "all"
	API    Role = "api"
	Worker Role = "worker"
)

// Config is the configuration of a server. Clock and Log may be nil.
type Config struct {
	// DataDir holds the SQLite database, the master key and the simulated sending account. A
	// server creates it if it is missing.
	DataDir string
	// DatabaseURL is the address of PostgreSQL; "" means SQLite in DataDir.
	DatabaseURL string
	// DatabaseDirectURL is the address of the same database without its pooler; see
	// engine.Config.DirectURL. "" means that DatabaseURL keeps sessions.
	DatabaseDirectURL string
	// DatabaseReplicaURL is the address of a standby for reads that may lag; "" means none.
	// ReplicaLag limits how old its data may be; 0 means five seconds. See [Config.ReplicaBound].
	DatabaseReplicaURL string
	ReplicaLag         time.Duration
	// MaxConns limits the connections to PostgreSQL; 0 means package storage's default.
	MaxConns int
	// SQLiteReaders limits the connections for reads of callers on SQLite; 0 means package
	// storage's default.
	SQLiteReaders int
	// MemoryLimit is the memory limit of Go's garbage collector, such as 768MiB, or off; ""
	// means GOMEMLIMIT, or a share of the memory that there is.
	MemoryLimit string
	// CallerWait limits how long an API call waits for a database connection, or for
	// another process that writes to SQLite; 0 means package storage's default.
	CallerWait time.Duration
	// RedisURL is the address of the Redis server through which processes share rate limits.
	// "" means that each process counts calls on its own.
	RedisURL string
	// RedisTimeout limits how long an API call waits for Redis when its rate limit is
	// checked; 0 means the default of package guardrails.
	RedisTimeout time.Duration
	// PagesPerMinute limits how many pages of the dashboard a person may request in a minute;
	// 0 means 600.
	PagesPerMinute int
	// ActivitiesPerMinute limits how many activities an organization may send in a minute; 0
	// means activities.DefaultVolume.
	ActivitiesPerMinute int
	// MasterKey is the master key in 64 hexadecimal digits; "" means the key file in
	// DataDir.
	MasterKey string
	// MasterKeyPath is the path of the file with the master key if MasterKey is ""; "" means the
	// key file in DataDir.
	MasterKeyPath string
	// NoMigrate keeps a starting server from applying missing database migrations.
	NoMigrate bool
	// DrainDelay is how long a server that got a signal still accepts calls, while its readiness
	// is 503 and its answers close their connections; see serve.Host.RunUntilSignal.
	DrainDelay time.Duration
	// Role selects what the process does. The function serve.Start replaces "" by All. The
	// method Check returns an error for "".
	Role Role
	// Public holds the addresses that clients use. Listen holds the addresses on which the
	// process listens.
	Public Public
	Listen Listen
	// FirstPort is the port from which the ports in Listen were counted; 0 if none was given.
	FirstPort int
	// AllowedOrigins are the origins whose web pages may call the MCP endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves (RFC 7591).
	DynamicRegistration bool
	// NoIntrospection turns off the token introspection endpoint (RFC 7662).
	NoIntrospection bool
	// TrustedProxies are the networks, in CIDR form, of the reverse proxies in front of the
	// server. The server trusts the X-Forwarded-For header of requests from them.
	TrustedProxies []string
	// ClientDocumentNetworks are private networks, in CIDR form, from which metadata
	// documents of OAuth clients may be fetched. The public Internet is always allowed.
	ClientDocumentNetworks []string
	// ClientDocumentCAs are the certificate authorities trusted for hosts of client metadata
	// documents; nil means the system's.
	ClientDocumentCAs *x509.CertPool
	// MailServerNetworks are private networks, in CIDR form, in which people may connect
	// SMTP servers in the dashboard. The public Internet is always allowed.
	MailServerNetworks []string
	// WebhookNetworks are private networks, in CIDR form, in which people may have webhook
	// endpoints. The public Internet is always allowed.
	WebhookNetworks []string
	// WebhookCAs returns the certificate authorities trusted for webhook endpoints; nil means the
	// system's. It is called at the first webhook to a host.
	WebhookCAs func() *x509.CertPool
	// WebhookNames looks up the hosts of webhooks when they are saved and published, and
	// WebhookResolver when messages are sent to them; nil means the resolver of the system.
	WebhookNames, WebhookResolver *net.Resolver
	// WebhookTimeout limits an attempt to send a webhook; 0 means ten seconds.
	WebhookTimeout time.Duration
	// BucketNetworks are private networks, in CIDR form, in which people may have buckets for
	// received mail. The public Internet is always allowed.
	BucketNetworks []string
	// BucketTimeout limits a call of such a bucket; 0 means thirty seconds.
	BucketTimeout time.Duration
	// GitFolder is the folder below which repositories of definitions may be; "" means that none
	// may be on this server. GitNetworks are private networks, in CIDR form, in which such
	// repositories may be; the public Internet is always allowed. GitCAs are the certificate
	// authorities trusted for them; nil means the system's.
	GitFolder   string
	GitNetworks []string
	GitCAs      *x509.CertPool
	// ReceiveSESRegions are the regions in which Amazon SES receives, for receiving domains
	// while MailHost is empty.
	ReceiveSESRegions []string
	// AmazonClient sends the requests to Amazon SES and Amazon SNS; nil means the default
	// HTTP clients of Mailhelm.
	AmazonClient *http.Client
	// NotificationCAs are the certificate authorities trusted for the certificates with
	// which Amazon SNS signs notifications; nil means the system's.
	NotificationCAs *x509.CertPool
	// InboxDomain is the domain of the addresses of temporary inboxes; "" means
	// inbox.localhost.
	InboxDomain string
	// SystemSMTP is the URL of the operator's own SMTP server for mail to people, such as
	// password resets. SystemFrom is the sender of that mail. If both are empty, no such
	// mail is sent.
	SystemSMTP, SystemFrom string
	// DNSServers are the name servers for the checks of received mail, as host:port. If it is
	// empty, those of the system are asked; see NoDNS.
	DNSServers []string
	// PollSimulated also asks the name servers about the domains of simulated sending accounts,
	// for their DMARC records. These domains are made up, so no flag sets it.
	PollSimulated bool
	// MailHost is the host name that MX records of receiving domains name. SMTPName is the host
	// name in the greeting of the SMTP server for incoming mail; see ReceiverName.
	MailHost, SMTPName string
	// SMTPCert and SMTPKey are PEM files with the certificate chain of that server and its key.
	// If both are empty, it makes a self-signed certificate.
	SMTPCert, SMTPKey string
	// Letters sends the mail to people if SystemSMTP is empty. The demo has a sender that
	// shows the mail; a server has none.
	Letters letters.Sender
	// SystemCAs are the certificate authorities trusted for the server in SystemSMTP; nil
	// means the system's.
	SystemCAs *x509.CertPool
	// RspamdURL is the URL of rspamd and Clamd the address of clamd, which scan received mail.
	// Without one of them, its verdict is DISABLED.
	RspamdURL, Clamd string
	// GitHub has the app with which organizations connect repositories on GitHub.
	GitHub GitHub
	// OTLPEndpoint is the base URL of the tracing collector; "" turns tracing off.
	OTLPEndpoint string
	// PublicClient requests the public addresses for `mailhelm doctor`, and LookupHost finds the
	// addresses of their names. If they are nil, doctor uses a default client and the name service
	// of the machine.
	PublicClient *http.Client
	LookupHost   func(ctx context.Context, host string) ([]string, error)
	// Recipients determines how the simulator's recipients react to mail. The zero value
	// delivers every message.
	Recipients simulator.Behaviour
	// KeptMails is the number of the newest messages of each organization that the simulator
	// keeps with their content. Zero means the simulator's default, a negative number none.
	KeptMails int
	// Operations are offered over REST and MCP in addition to the built-in operations, with
	// the same checks of credentials and rate limits. They replace built-in operations with
	// the same names. The program mailhelm adds none.
	Operations []core.Operation
	// PasswordCost is the cost of password hashes; zero means the default of package
	// passwords. The program mailhelm leaves it zero.
	PasswordCost passwords.Cost
	Build        Build
	Clock        core.Clock
	Log          *slog.Logger
	// LogLevel is the level of Log, which the server changes to that of the installation. If it is
	// nil, the level does not change.
	LogLevel *slog.LevelVar
}

// Build identifies the program.
type Build struct{ Version, Commit string }

// Public holds the public addresses of the services. An empty address is derived, from the
// listen address of the service or from another public address. Asset stays empty if there is
// no listen address of the asset host.
type Public struct{ API, Auth, App, MCP, Fetch, Docs, Asset string }

// Listen holds the listen addresses of the services, as host:port. App is the address of
// both the authorization server and the dashboard. Without Asset there is no asset host.
type Listen struct{ API, App, MCP, Fetch, Asset, SMTP, Admin string }

// DefaultListen returns the default listen addresses, all on 127.0.0.1. Other machines can
// reach a service only if the operator configures another address.
func DefaultListen() Listen {
	return Listen{
		API: loopback(8080), App: loopback(8081), MCP: loopback(8082),
		Fetch: loopback(8083), SMTP: loopback(2525), Admin: loopback(9090),
	}
}

// PortRow returns listen addresses on 127.0.0.1 with six consecutive ports. first is the
// lowest port.
func PortRow(first int) Listen {
	return Listen{
		API: loopback(first), App: loopback(first + 1), MCP: loopback(first + 2),
		Fetch: loopback(first + 3), SMTP: loopback(first + 4), Admin: loopback(first + 5),
	}
}

// loopback returns 127.0.0.1 with the port, as host:port.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// The files in the data folder, and the folder of received mail. A backup of an installation
// on SQLite needs all of them.
const (
	masterKeyFile = "master.key"
	databaseFile  = "mailhelm.db" // named by engine.Config
	accountFile   = "sending-account.db"
	objectsFolder = "objects"
)

// MasterKeyFile returns the path of the file that holds the master key if the field
// MasterKey is "".
func (c Config) MasterKeyFile() string {
	return cmp.Or(c.MasterKeyPath, filepath.Join(c.DataDir, masterKeyFile))
}

// AccountFile returns the path of the database of the simulated sending accounts.
func (c Config) AccountFile() string { return filepath.Join(c.DataDir, accountFile) }

// ObjectsFolder returns the path of the folder with the received mail of organizations that
// have no bucket.
func (c Config) ObjectsFolder() string { return filepath.Join(c.DataDir, objectsFolder) }

// DatabaseFile returns the path of the SQLite database.
func (c Config) DatabaseFile() string { return filepath.Join(c.DataDir, databaseFile) }

// DocumentNetworks returns the private networks from which metadata documents of OAuth
// clients may be fetched. The error names the flag and the invalid network.
func (c Config) DocumentNetworks() ([]netip.Prefix, error) {
	return networksOf("--client-document-networks", c.ClientDocumentNetworks)
}

// MailNetworks returns the private networks in which people may connect SMTP servers. It
// fails if a network is invalid; the error names the flag and that network.
func (c Config) MailNetworks() ([]netip.Prefix, error) {
	return networksOf("--mail-server-networks", c.MailServerNetworks)
}

// HookNetworks returns the private networks in which people may have webhook endpoints. It
// fails if a network is invalid; the error names the flag and that network.
func (c Config) HookNetworks() ([]netip.Prefix, error) {
	return networksOf("--webhook-networks", c.WebhookNetworks)
}

// NetworksOfBuckets returns the private networks in which people may have buckets for
// received mail. It fails if a network is invalid; the error names the flag and that
// network.
func (c Config) NetworksOfBuckets() ([]netip.Prefix, error) {
	return networksOf("--bucket-networks", c.BucketNetworks)
}

// NetworksOfGit returns the private networks in which repositories of definitions may be. It fails if
// a network is invalid; the error names the flag and that network.
func (c Config) NetworksOfGit() ([]netip.Prefix, error) {
	return networksOf("--git-networks", c.GitNetworks)
}

// networksOf parses networks in CIDR form and clears the bits after the prefix. setting is
// the flag that set the networks. The error names it and the first invalid text.
func networksOf(setting string, texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s %s: must be a network such as 10.20.0.0/16", setting, text)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

// Proxies returns the networks of the trusted reverse proxies. If one is invalid, the error
// names the flag.
func (c Config) Proxies() (proxies.Trusted, error) {
	trusted, err := proxies.Parse(c.TrustedProxies)
	if err != nil {
		return proxies.Trusted{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	return trusted, nil
}

// MailDomain returns the domain of the addresses of temporary inboxes. On the machine itself,
// names below localhost lead to the machine (RFC 6761 section 6.3).
func (c Config) MailDomain() string { return cmp.Or(c.InboxDomain, "inbox.localhost") }

// regionName matches the names of AWS regions.
var regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// Check returns the first problem of the configuration: an invalid value, or two values
// that contradict each other. The error names the flag. Check opens no file and no
// connection, so the doctor command calls it too.
func (c Config) Check() error {
	if c.DataDir == "" {
		return fmt.Errorf("no data folder is configured")
	}
	if c.Role != All && c.Role != API && c.Role != Worker {
		return fmt.Errorf("--role %q is not supported: use all, api or worker", c.Role)
	}
	if err := c.checkDatabase(); err != nil {
		return err
	}
	if err := c.checkSizes(); err != nil {
		return err
	}
	for _, origin := range c.AllowedOrigins {
		if err := checkOrigin(origin); err != nil {
			return fmt.Errorf("--allowed-origins %s: %w", origin, err)
		}
	}
	if _, err := c.DocumentNetworks(); err != nil {
		return err
	}
	if _, err := c.MailNetworks(); err != nil {
		return err
	}
	if err := c.GitHub.check(); err != nil {
		return err
	}
	if _, err := c.HookNetworks(); err != nil {
		return err
	}
	if _, err := c.NetworksOfBuckets(); err != nil {
		return err
	}
	if _, err := c.NetworksOfGit(); err != nil {
		return err
	}
	if _, err := c.Proxies(); err != nil {
		return err
	}
	if !core.IsEmail("x@"+c.MailDomain()) || strings.ToLower(c.MailDomain()) != c.MailDomain() {
		return fmt.Errorf("--inbox-domain %s: must be a domain in lower case, such as inbox.example.com", c.InboxDomain)
	}
	if _, _, err := c.SystemMail(); err != nil {
		return err
	}
	if _, err := c.Rspamd(); err != nil {
		return err
	}
	if _, _, err := c.ClamAV(); err != nil {
		return err
	}
	if err := c.checkReceiver(); err != nil {
		return err
	}
	for _, region := range c.ReceiveSESRegions {
		if !regionName.MatchString(region) {
			return fmt.Errorf("--receive-ses-regions %s: must be a region such as eu-central-1", region)
		}
	}
	if c.OTLPEndpoint != "" {
		if err := tracing.CheckEndpoint(c.OTLPEndpoint); err != nil {
			return fmt.Errorf("--otlp-endpoint: %w", err)
		}
	}
	return c.Public.Check()
}
