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

// Role selects what a process does.
type Role string

// The roles. An api process answers calls. A worker process runs background jobs and
// serves only its admin address.
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
	// MaxConns limits the connections to PostgreSQL; 0 means storage's default.
	MaxConns int
	// CallerWait limits how long a call waits for a database connection; 0 means storage's
	// default.
	CallerWait time.Duration
	// RedisURL is the Redis in which processes share rate limits; "" means that each process
	// counts alone.
	RedisURL string
	// RedisTimeout limits how long a call waits for Redis; 0 means guardrails' default.
	RedisTimeout time.Duration
	// ActivitiesPerMinute limits the activities of an organization in a minute; 0 means
	// activities.DefaultVolume.
	ActivitiesPerMinute int
	// MasterKey is the master key in 64 hexadecimal digits; "" means the file in DataDir.
	MasterKey string
	// NoMigrate turns off migrations at start.
	NoMigrate bool
	// Role selects what the process does. serve.Start replaces "" by All; Check refuses
	// it.
	Role Role
	// Public holds the addresses that clients use, Listen those on which the process
	// listens.
	Public Public
	Listen Listen
	// AllowedOrigins are the browser origins that may call the agent endpoint.
	AllowedOrigins []string
	// DynamicRegistration lets OAuth clients register themselves.
	DynamicRegistration bool
	// NoIntrospection turns off token introspection (RFC 7662) for clients.
	NoIntrospection bool
	// TrustedProxies are the networks, in CIDR form, of the proxies in front. The server
	// trusts their X-Forwarded-For header.
	TrustedProxies []string
	// ClientDocumentNetworks are private networks, in CIDR form, from which metadata
	// documents may be fetched. The public Internet is always allowed.
	ClientDocumentNetworks []string
	// ClientDocumentCAs sign the certificates of hosts with metadata documents; nil means
	// the system's CAs.
	ClientDocumentCAs *x509.CertPool
	// MailServerNetworks are private networks, in CIDR form, in which people may connect
	// SMTP servers on the pages. The public Internet is always allowed.
	MailServerNetworks []string
	// AmazonClient sends requests to Amazon SES and Amazon SNS; nil means Mailhelm's own
	// clients.
	AmazonClient *http.Client
	// NotificationCAs sign the certificates of Amazon SNS; nil means the system's CAs.
	NotificationCAs *x509.CertPool
	// SystemSMTP is the URL of the operator's own SMTP server for mail to people. SystemFrom
	// is the sender of that mail. Without both, no such mail is sent.
	SystemSMTP, SystemFrom string
	// SystemCAs sign the certificate of that server; nil means the system's CAs.
	SystemCAs *x509.CertPool
	// OTLPEndpoint is the base URL of the collector of spans; "" turns spans off.
	OTLPEndpoint string
	// Recipients determines how simulated recipients react to mail. The zero value delivers
	// all of it.
	Recipients simulator.Behaviour
	// Operations are added to those of the product, on the same surfaces and behind the same
	// guardrails. The program mailhelm adds none.
	Operations []core.Operation
	Build      Build
	Clock      core.Clock
	Log        *slog.Logger
}

// Build identifies the program.
type Build struct{ Version, Commit string }

// Public holds the public addresses of the services. An empty one is derived from the
// listen address of its service.
type Public struct{ API, Auth, App, MCP, Fetch, Docs string }

// Listen holds the listen addresses of the services, as host:port. The authorization
// server and the app share one.
type Listen struct{ API, App, MCP, Fetch, SMTP, Admin string }

// DefaultListen returns addresses on the loopback only. The operator must configure any
// other address explicitly.
func DefaultListen() Listen {
	return Listen{
		API: loopback(8080), App: loopback(8081), MCP: loopback(8082),
		Fetch: loopback(8083), SMTP: loopback(2525), Admin: loopback(9090),
	}
}

// PortRow returns six consecutive ports of the loopback, from first.
func PortRow(first int) Listen {
	return Listen{
		API: loopback(first), App: loopback(first + 1), MCP: loopback(first + 2),
		Fetch: loopback(first + 3), SMTP: loopback(first + 4), Admin: loopback(first + 5),
	}
}

// AnyPorts returns free ports of the loopback, chosen by the system.
func AnyPorts() Listen {
	free := loopback(0)
	return Listen{API: free, App: free, MCP: free, Fetch: free, SMTP: free, Admin: free}
}

// loopback returns a port of 127.0.0.1 as host:port. Port 0 lets the system choose one.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// The files in the data folder. A backup of an installation on SQLite needs all three.
const (
	masterKeyFile = "master.key"
	databaseFile  = "mailhelm.db" // named by engine.Config
	accountFile   = "sending-account.db"
)

// MasterKeyFile returns the path of the master key that is used if none is configured.
func (c Config) MasterKeyFile() string { return filepath.Join(c.DataDir, masterKeyFile) }

// AccountFile returns the path of the simulated sending account.
func (c Config) AccountFile() string { return filepath.Join(c.DataDir, accountFile) }

// DatabaseFile returns the path of the SQLite database.
func (c Config) DatabaseFile() string { return filepath.Join(c.DataDir, databaseFile) }

// DocumentNetworks returns ClientDocumentNetworks, parsed. The error names the flag and
// the invalid network.
func (c Config) DocumentNetworks() ([]netip.Prefix, error) {
	return networksOf("--client-document-networks", c.ClientDocumentNetworks)
}

// MailNetworks returns MailServerNetworks, parsed. The error names the flag and the
// invalid network.
func (c Config) MailNetworks() ([]netip.Prefix, error) {
	return networksOf("--mail-server-networks", c.MailServerNetworks)
}

// networksOf parses networks in CIDR form. It clears the bits of an address beyond its
// prefix. The error names the setting, which is a flag, and the first invalid text.
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

// Proxies returns TrustedProxies, parsed. The error names the flag.
func (c Config) Proxies() (proxies.Trusted, error) {
	trusted, err := proxies.Parse(c.TrustedProxies)
	if err != nil {
		return proxies.Trusted{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	return trusted, nil
}

// Check returns an error if the configuration is invalid or contradicts itself. It
// contacts nothing. It returns the first problem that it finds, with the flag that
// causes it. It may be repeated; doctor calls it too.
func (c Config) Check() error {
	if c.DataDir == "" {
		return fmt.Errorf("no data folder is configured")
	}
	if c.Role != All && c.Role != API && c.Role != Worker {
		return fmt.Errorf("role %q is not supported: use all, api or worker", c.Role)
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
