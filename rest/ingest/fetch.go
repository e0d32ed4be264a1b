package ingest

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

// The limits of a fetch: its time, and its length in bytes.
const (
	fetchTime = 5 * time.Second
	maxFetch  = 64 << 10
	maxHeader = 16 << 10
)

// FetcherConfig configures [NewFetcher]. Its zero value is for production.
type FetcherConfig struct {
	// Allowed are networks that may be reached in addition to the public Internet, on any port.
	Allowed []netip.Prefix
	// Roots are the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
	// Client replaces the transport when its Transport is set. Redirects are not followed, and
	// the other members have no effect.
	Client *http.Client
}

// NewFetcher returns the [Fetcher] for production. Certificates of issuers are published
// without TLS, so it fetches from http URLs too.
func NewFetcher(cfg FetcherConfig) Fetcher {
	limits := fetch.Config{
		Guard: outbound.New(cfg.Allowed, 443, 80), Schemes: []string{"https", "http"}, Time: fetchTime,
		MaxBody: maxFetch, MaxHeader: maxHeader, UserAgent: "Mailhelm (event source check)", RootCAs: cfg.Roots,
	}
	if cfg.Client != nil {
		limits.Transport = cfg.Client.Transport
	}
	return fetch.New(limits)
}
