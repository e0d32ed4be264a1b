package config

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/tracing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// Role is the part of the work that a process does.
type Role string

// The roles. An api process answers calls, a worker process does background
// jobs and answers nothing but its admin address.
const (
	All    Role = "all"
	API    Role = "api"
	Worker Role = "worker"
)

// Config is what a server is made of. Clock and Log may be nil.
type Config struct {
	// DataDir holds the SQLite database, the master key and the simulated sending
	// account. It is made when missing.
	DataDir string
	// DatabaseURL is PostgreSQL's; "" means SQLite in DataDir.
	DatabaseURL string
	// MaxConns bounds the connections to PostgreSQL; 0 means storage's default.
	MaxConns int
	// CallerWait is how long calls wait for a connection to the database; 0 means
	// storage's default.
	CallerWait time.Duration
	// RedisURL is where processes share rate limits; "" means that each counts for
	// itself.
	RedisURL string
	// RedisTimeout is what a call waits for Redis at most; 0 means guardrails' own.
	RedisTimeout time.Duration
	// ActivitiesPerMinute is how many activities a minute an organization may send; 0
	// means activities.DefaultVolume.
	ActivitiesPerMinute int
	// MasterKey is 64 hexadecimal digits; "" means the file in DataDir.
	MasterKey string
	// NoMigrate leaves the schema as it is.
	NoMigrate bool
	Role      Role
	Public    Public
	Listen    Listen
	// AllowedOrigins are the browser origins that may call the agent endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves.
	DynamicRegistration bool
	// NoIntrospection keeps clients from asking about tokens.
	NoIntrospection bool
	// TrustedProxies are the networks, in CIDR form, of the proxies in front, which
	// are believed about where a request comes from.
	TrustedProxies []string
	// ClientDocumentNetworks are the networks, in CIDR form, from which metadata
	// documents are fetched besides the public Internet.
	ClientDocumentNetworks []string
	// ClientDocumentCAs sign the certificates of hosts with metadata documents; nil
	// means those that the system believes.
	ClientDocumentCAs *x509.CertPool
	// MailServerNetworks are the networks, in CIDR form, in which SMTP servers may be
	// that people connect on the pages, besides the public Internet.
	MailServerNetworks []string
	// AmazonClient asks Amazon SES and Amazon SNS; nil means clients of our own.
	AmazonClient *http.Client
	// NotificationCAs sign the certificates of Amazon SNS; nil means those that the
	// system believes.
	NotificationCAs *x509.CertPool
	// SystemSMTP is the operator's own SMTP server, as a URL, and SystemFrom the sender
	// of the mail of the service to its people that goes through it. Both "" mail
	// nothing.
	SystemSMTP, SystemFrom string
	// SystemCAs sign the certificate of that server; nil means those that the system
	// believes.
	SystemCAs *x509.CertPool
	// OTLPEndpoint is the base URL of the collector that gets spans; "" makes none.
	OTLPEndpoint string
	// Recipients is what becomes of mail that simulated accounts send; the zero
	// value has all of it delivered.
	Recipients simulator.Behaviour
	// Operations are appended to those of the product, and mounted on the same surfaces
	// behind the same rails. The program mailhelm appends none.
	Operations []core.Operation
	Build      Build
	Clock      core.Clock
	Log        *slog.Logger
}

// Build identifies the program.
type Build struct{ Version, Commit string }

// Public is the addresses that others know the services by. An empty one
// follows from where its service listens.
type Public struct{ API, Auth, App, MCP, Fetch, Docs string }

// Listen is where the services listen, as host:port. The authorization server
// and the app share one.
type Listen struct{ API, App, MCP, Fetch, SMTP, Admin string }

// DefaultListen is the loopback only: what is to be reached from elsewhere is
// said explicitly.
func DefaultListen() Listen {
	return Listen{
		API: loopback(8080), App: loopback(8081), MCP: loopback(8082),
		Fetch: loopback(8083), SMTP: loopback(2525), Admin: loopback(9090),
	}
}

// PortRow is six ports of the loopback in a row, from first.
func PortRow(first int) Listen {
	return Listen{
		API: loopback(first), App: loopback(first + 1), MCP: loopback(first + 2),
		Fetch: loopback(first + 3), SMTP: loopback(first + 4), Admin: loopback(first + 5),
	}
}

// AnyPorts is free ports of the loopback, chosen by the system.
func AnyPorts() Listen {
	free := loopback(0)
	return Listen{API: free, App: free, MCP: free, Fetch: free, SMTP: free, Admin: free}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// The files in the data folder.
const (
	masterKeyFile = "master.key"
	databaseFile  = "mailhelm.db" // named by engine.Config
	accountFile   = "sending-account.db"
)

// MasterKeyFile is where the master key is when it is not configured.
func (c Config) MasterKeyFile() string { return filepath.Join(c.DataDir, masterKeyFile) }

// AccountFile is where the simulated sending account is.
func (c Config) AccountFile() string { return filepath.Join(c.DataDir, accountFile) }

// DatabaseFile is where the SQLite database is.
func (c Config) DatabaseFile() string { return filepath.Join(c.DataDir, databaseFile) }

// DocumentNetworks is ClientDocumentNetworks, parsed.
func (c Config) DocumentNetworks() ([]netip.Prefix, error) {
	return networksOf("--client-document-networks", c.ClientDocumentNetworks)
}

// MailNetworks is MailServerNetworks, parsed.
func (c Config) MailNetworks() ([]netip.Prefix, error) {
	return networksOf("--mail-server-networks", c.MailServerNetworks)
}

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

// Proxies is TrustedProxies, parsed.
func (c Config) Proxies() (proxies.Trusted, error) {
	trusted, err := proxies.Parse(c.TrustedProxies)
	if err != nil {
		return proxies.Trusted{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	return trusted, nil
}

// Check finds what is wrong with a configuration in itself.
func (c Config) Check() error {
	if c.DataDir == "" {
		return fmt.Errorf("no data folder is configured")
	}
	if c.Role != All && c.Role != API && c.Role != Worker {
		return fmt.Errorf("role %q is none of all, api and worker", c.Role)
	}
	if c.Role != All && c.DatabaseURL == "" {
		return fmt.Errorf("role %s needs --database-url: SQLite is for one process, and jobs left by another would wait for ever", c.Role)
	}
	if c.ActivitiesPerMinute < 0 {
		return fmt.Errorf("--activities-per-minute %d: must not be negative", c.ActivitiesPerMinute)
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
	if _, err := c.Proxies(); err != nil {
		return err
	}
	if _, _, err := c.SystemMail(); err != nil {
		return err
	}
	if c.OTLPEndpoint != "" {
		if err := tracing.CheckEndpoint(c.OTLPEndpoint); err != nil {
			return fmt.Errorf("--otlp-endpoint: %w", err)
		}
	}
	return c.Public.Check()
}
