package ingest

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

// The limits of a fetch: its time, and the length of the body and of the header in bytes.
const (
	fetchTime = 5 * time.Second
	maxFetch  = 64 << 10
	maxHeader = 16 << 10
)

// FetcherConfig configures [NewFetcher]. The zero value is right for production.
type FetcherConfig struct {
	// Allowed has networks that may be reached on any port, in addition to the public
	// Internet.
	Allowed []netip.Prefix
	// Roots has the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
	// Client.Transport replaces the HTTP transport of the fetcher, unless it is nil. The
	// other fields of Client have no effect.
	Client *http.Client
}

// NewFetcher returns a [Fetcher] that reaches only the public Internet and the allowed
// networks. It also fetches http URLs, because issuer certificates are published without
// TLS.
func NewFetcher(cfg FetcherConfig) Fetcher {
	limits := fetch.Config{
		Guard: outbound.New(cfg.Allowed, 443, 80), Schemes: []string{"https", "http"}, Time: fetchTime,
		MaxBody: maxFetch, MaxHeader: maxHeader, UserAgent: "Mailhelm (event source check)", RootCAs: func() *x509.CertPool { return cfg.Roots },
	}
	if cfg.Client != nil {
		limits.Transport = cfg.Client.Transport
	}
	return fetch.New(limits)
}
