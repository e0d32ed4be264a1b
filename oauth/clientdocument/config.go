package clientdocument

import (
	"crypto/x509"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The limits of a fetch, unless [Config] sets others.
const (
	defaultDeadline  = 5 * time.Second
	defaultUserAgent = "Mailhelm (OAuth client metadata)"
)

// Config configures a [Reader].
type Config struct {
	// Allowed are networks that may be fetched from in addition to the public Internet,
	// on any port. It is empty by default and meant for tests and closed networks.
	Allowed []netip.Prefix
	// RootCAs are the trusted certificate authorities; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver looks up addresses; nil means the system's.
	Resolver *net.Resolver
	// Deadline limits a whole fetch, from the lookup to the last byte; zero means five
	// seconds.
	Deadline time.Duration
	// UserAgent is the User-Agent header of fetches.
	UserAgent string
	// Clock is used to expire the cache; nil means the machine's.
	Clock core.Clock
	// Log receives the causes that are not shown to people; nil means no log.
	Log *slog.Logger
}

// withDefaults returns the config with defaults for empty fields.
func (c Config) withDefaults() Config {
	if c.Deadline <= 0 {
		c.Deadline = defaultDeadline
	}
	if c.UserAgent == "" {
		c.UserAgent = defaultUserAgent
	}
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
