package ingest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// The bounds of a fetch.
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

// fetcher reads small documents from the public Internet. It follows no redirect, keeps no
// cookie and uses no proxy of the environment. It checks every address when it connects, so
// that a public name cannot lead to a private address.
type fetcher struct{ transport http.RoundTripper }

// NewFetcher returns the [Fetcher] for production.
func NewFetcher(cfg FetcherConfig) Fetcher {
	if cfg.Client != nil && cfg.Client.Transport != nil {
		return fetcher{cfg.Client.Transport}
	}
	dialer := net.Dialer{Timeout: fetchTime, KeepAlive: -1, Control: outbound.New(cfg.Allowed, 443, 80).Control}
	return fetcher{&http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    fetchTime,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}}
}

// Get returns the body of an answer with status 200. Any other status is an error.
func (f fetcher) Get(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	request.Header.Set("User-Agent", "Mailhelm (event source check)")
	response, err := f.transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch: answered with status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFetch+1))
	if err == nil {
		err = ctx.Err() // when the connection is closed, some servers end the body as if it were complete
	}
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if len(body) > maxFetch {
		return nil, fmt.Errorf("fetch: longer than %d bytes", maxFetch)
	}
	return body, nil
}
