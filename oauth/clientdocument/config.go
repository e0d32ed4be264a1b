package clientdocument

import (
	"crypto/x509"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The defaults for fetching a metadata document; [Config] can set others.
const (
	defaultDeadline  = 5 * time.Second
	defaultUserAgent = "Mailhelm (OAuth client metadata)"
)

// Config configures a [Reader].
type Config struct {
	// Allowed has networks from which documents may be fetched on any port, in addition to
	// the public Internet. It is empty by default and meant for tests and closed networks.
	Allowed []netip.Prefix
	// RootCAs has the trusted certificate authorities; nil means those of the system.
	RootCAs *x509.CertPool
	// Resolver resolves host names; nil means the resolver of the system.
	Resolver *net.Resolver
	// Deadline limits a whole fetch, from the DNS lookup to the last byte. Zero means five
	// seconds.
	Deadline time.Duration
	// UserAgent is the User-Agent header of fetches; "" means the default.
	UserAgent string
	// Clock gives the time by which cached documents expire; nil means the system clock.
	Clock core.Clock
	// Log receives the warnings about too many concurrent fetches and the reasons why
	// documents were refused. nil means no log.
	Log *slog.Logger
}

// withDefaults returns a copy of the config with defaults for empty fields.
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
