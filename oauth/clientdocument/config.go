package clientdocument

import (
	"crypto/x509"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The bounds of a fetch, where [Config] sets no other.
const (
	defaultDeadline  = 5 * time.Second
	defaultUserAgent = "Mailhelm (OAuth client metadata)"
)

// Config is what a [Reader] works with.
type Config struct {
	// Allowed are networks that may be fetched from besides the public Internet,
	// on any port. None by default; a test or a closed network names its own.
	Allowed []netip.Prefix
	// RootCAs sign the certificates that are believed; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver finds addresses; nil means the system's.
	Resolver *net.Resolver
	// Deadline bounds a whole fetch, from the lookup to the last byte. Zero means
	// five seconds.
	Deadline time.Duration
	// UserAgent names the product to whoever serves documents.
	UserAgent string
	// Clock ends what is remembered; nil means the machine's.
	Clock core.Clock
	// Log gets the causes that people are not told; nil means none.
	Log *slog.Logger
}

// withDefaults fills in what may be left out.
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
