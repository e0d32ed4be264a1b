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

// Config has the limits of a [Fetcher]. With the zero value of Schemes or Time, every fetch
// fails.
type Config struct {
	// Guard decides to which IP addresses and ports the Fetcher may connect.
	Guard outbound.Guard
	// Schemes are the allowed schemes of a URL: "https", "http" or both.
	Schemes []string
	// Time is the maximum duration of a fetch, from the DNS lookup to the last byte.
	Time time.Duration
	// MaxBody and MaxHeader are the maximum sizes of the response's body and header, in
	// bytes.
	MaxBody, MaxHeader int
	// Content is the type of content that a response must have; the zero value allows any.
	Content Content
	// Reuse is how long a connection may be used for further requests to its host. A request
	// that a host leaves unanswered on such a connection is repeated on another, so requests
	// must be idempotent. Zero means one connection per request.
	Reuse time.Duration
	// UserAgent is the User-Agent header of requests.
	UserAgent string

	// RootCAs returns the trusted certificate authorities; nil means those of the operating
	// system. A Fetcher with Reuse calls it at a fetch, so it may take some time.
	RootCAs func() *x509.CertPool
	// Resolver looks up host names; nil means the resolver of the operating system.
	Resolver *net.Resolver
	// Refuse is called for every address that Guard allows. If it returns an error, the
	// Fetcher does not connect. nil refuses no address.
	Refuse func(network, address string, conn syscall.RawConn) error
	// Transport replaces the Fetcher's own HTTP transport. Guard, RootCAs, Resolver, Refuse
	// and MaxHeader then have no effect. nil means the own transport.
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
	switch {
	case transport != nil:
	case config.Reuse > 0:
		transport = &reusing{config: config, now: time.Now} //nolint:forbidigo // hosts and their DNS live in real time
	default:
		transport = newTransport(config)
	}
	return &Fetcher{config: config, transport: transport}
}

// newTransport returns an HTTP transport with the limits of config. It uses no proxy,
// because the Guard would then check the address of the proxy, not of the host.
func newTransport(config Config) *http.Transport {
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.RootCAs != nil {
		trusted.RootCAs = config.RootCAs()
	}
	dialer := net.Dialer{Timeout: config.Time, KeepAlive: -1, Resolver: config.Resolver, Control: config.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        trusted,
		TLSHandshakeTimeout:    config.Time,
		DisableKeepAlives:      config.Reuse == 0,
		IdleConnTimeout:        config.Reuse,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(config.MaxHeader),
	}
}

// control is the Control function of the transport's net.Dialer. It calls Guard and Refuse
// with the address of each new connection, and fails if one of them refuses it.
func (c Config) control(network, address string, conn syscall.RawConn) error {
	if err := c.Guard.Control(network, address, conn); err != nil {
		return err
	}
	if c.Refuse == nil {
		return nil
	}
	return c.Refuse(network, address, conn)
}

// Get requests a URL and returns the body of the response. It fails with the errors of
// [Fetcher.Do].
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

// Do sends a request and returns the body of the response, whose status must be 200. It
// fails with [ErrScheme] if Config does not allow the URL's scheme. It fails with a
// *[StatusError] for another status, and with the cause if there is no response. If the
// response is not within Config, Do fails with [ErrTooSlow], [ErrTooLong], [ErrCompressed]
// or [ErrContentType]. It sets the User-Agent header of the request.
func (f *Fetcher) Do(request *http.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(request.Context(), f.config.Time)
	defer cancel()
	response, err := f.roundTrip(ctx, request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if err := f.config.check(response); err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return f.read(ctx, response.Body)
}

// roundTrip sends a request, whose response the caller closes. It fails with the errors of
// Do for a URL that is not fetched and for a missing response.
func (f *Fetcher) roundTrip(ctx context.Context, request *http.Request) (*http.Response, error) {
	if !slices.Contains(f.config.Schemes, request.URL.Scheme) {
		return nil, fmt.Errorf("fetch: %w", ErrScheme)
	}
	request = request.WithContext(ctx)
	request.Header.Set("User-Agent", f.config.UserAgent)
	// RoundTrip is called directly, because an http.Client would follow redirects.
	response, err := f.transport.RoundTrip(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	// A server that sees the end of the request can still answer, usually with an empty 200,
	// before the transport has closed the connection.
	if err := ctx.Err(); err != nil {
		_ = response.Body.Close()
		return nil, failure(ctx, err)
	}
	return response, nil
}

// Response is the response to a request of [Fetcher.Send].
type Response struct {
	Status int
	Header http.Header
	// Body is the beginning of the body, at most Config.MaxBody bytes.
	Body []byte
}

// Send sends a request and returns the response, whatever its status and type of content.
// Once the status has arrived, a slow, broken or longer body is no error: the part that
// arrived is returned. A connection is only used again if its response ended within MaxBody.
// Without a response it fails with the errors of [Fetcher.Do].
func (f *Fetcher) Send(request *http.Request) (Response, error) {
	ctx, cancel := context.WithTimeout(request.Context(), f.config.Time)
	defer cancel()
	response, err := f.roundTrip(ctx, request)
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		// The body would be the connection itself, whose reads no context ends.
		return Response{Status: response.StatusCode, Header: response.Header}, nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, int64(f.config.MaxBody)))
	return Response{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// CloseIdleConnections closes connections that are kept for further requests. Those in use are
// closed after their requests.
func (f *Fetcher) CloseIdleConnections() {
	if r, ok := f.transport.(*reusing); ok {
		r.CloseIdleConnections()
	}
}

// read returns the whole body.
func (f *Fetcher) read(ctx context.Context, from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, int64(f.config.MaxBody)+1))
	if err == nil {
		// If the context has ended, an incomplete body may look complete. So the context's
		// error is checked too.
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

// failure returns the error for a request whose response was not read completely. It wraps
// ErrTooSlow if the cause is a timeout.
func failure(ctx context.Context, cause error) error {
	timeout, ok := errors.AsType[net.Error](cause)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || ok && timeout.Timeout() {
		return fmt.Errorf("fetch: %w: %w", ErrTooSlow, cause)
	}
	return fmt.Errorf("fetch: %w", cause)
}
