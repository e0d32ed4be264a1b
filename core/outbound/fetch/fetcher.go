package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// Config states what a [Fetcher] may fetch. A limit that is missing allows nothing.
type Config struct {
	// Guard decides which addresses and ports are connected to.
	Guard outbound.Guard
	// Schemes are those that a URL may have: "https", "http".
	Schemes []string
	// Time limits a whole fetch, from the lookup to the last byte.
	Time time.Duration
	// MaxBody and MaxHeader limit a response, in bytes.
	MaxBody, MaxHeader int
	// Content is what a response must contain.
	Content Content
	// UserAgent is the User-Agent header of requests.
	UserAgent string

	// RootCAs are the trusted certificate authorities; nil means those of the system.
	RootCAs *x509.CertPool
	// Resolver looks up addresses; nil means that of the system.
	Resolver *net.Resolver
	// Refuse is asked about every address that Guard allows, and refuses it by an error.
	// nil refuses none.
	Refuse func(network, address string, conn syscall.RawConn) error
	// Transport replaces the connections of the Fetcher, and with them Guard, RootCAs,
	// Resolver, Refuse and MaxHeader. nil replaces nothing.
	Transport http.RoundTripper
}

// Fetcher sends requests within the limits of its Config. It is safe for use by several
// goroutines.
type Fetcher struct {
	config    Config
	transport http.RoundTripper
}

// New returns a Fetcher.
func New(config Config) *Fetcher {
	transport := config.Transport
	if transport == nil {
		transport = newTransport(config)
	}
	return &Fetcher{config: config, transport: transport}
}

// newTransport returns a transport without a proxy, because the address of the proxy
// would be checked in place of that of the host.
func newTransport(config Config) *http.Transport {
	dialer := net.Dialer{Timeout: config.Time, KeepAlive: -1, Resolver: config.Resolver, Control: config.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: config.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    config.Time,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(config.MaxHeader),
	}
}

// control is the Control function of the dialer.
func (c Config) control(network, address string, conn syscall.RawConn) error {
	if err := c.Guard.Control(network, address, conn); err != nil {
		return err
	}
	if c.Refuse == nil {
		return nil
	}
	return c.Refuse(network, address, conn)
}

// Get returns the body at a URL. It fails as [Fetcher.Do] does.
func (f *Fetcher) Get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if f.config.Content == JSON {
		request.Header.Set("Accept", "application/json")
	}
	return f.Do(request)
}

// Do sends a request and returns the body of a response with status 200. It fails with
// a *[StatusError] for another status, with [ErrScheme], [ErrTooSlow], [ErrTooLong],
// [ErrCompressed] and [ErrContentType] at a limit, and with the cause when there is no
// response. It sets the User-Agent header of the request.
func (f *Fetcher) Do(request *http.Request) ([]byte, error) {
	if !slices.Contains(f.config.Schemes, request.URL.Scheme) {
		return nil, fmt.Errorf("fetch: %w", ErrScheme)
	}
	ctx, cancel := context.WithTimeout(request.Context(), f.config.Time)
	defer cancel()
	request = request.WithContext(ctx)
	request.Header.Set("User-Agent", f.config.UserAgent)
	// An http.Client would follow redirects and keep cookies.
	response, err := f.transport.RoundTrip(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer response.Body.Close()
	if err := f.config.check(response); err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return f.read(ctx, response.Body)
}

// read returns the whole body.
func (f *Fetcher) read(ctx context.Context, from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, int64(f.config.MaxBody)+1))
	if err == nil {
		// After the context has ended, some servers end the body as if it were
		// complete.
		err = ctx.Err()
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	if len(body) > f.config.MaxBody {
		return nil, fmt.Errorf("fetch: %w: more than %d bytes", ErrTooLong, f.config.MaxBody)
	}
	return body, nil
}

// failure returns the error for a request without a whole response.
func failure(ctx context.Context, cause error) error {
	timeout, ok := errors.AsType[net.Error](cause)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || ok && timeout.Timeout() {
		return fmt.Errorf("fetch: %w: %w", ErrTooSlow, cause)
	}
	return fmt.Errorf("fetch: %w", cause)
}
