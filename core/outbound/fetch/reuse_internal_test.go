package fetch

import (
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

// host is a TLS server for example.com that counts its connections.
type host struct {
	*httptest.Server
	opened, closed atomic.Int64
}

// newHost starts a server at an address of the loopback, such as "127.0.0.1:0".
func newHost(t *testing.T, address string, handler http.HandlerFunc) *host {
	t.Helper()
	h := &host{Server: httptest.NewUnstartedServer(handler)}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	h.Listener = l
	h.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			h.opened.Add(1)
		case http.StateClosed:
			h.closed.Add(1)
		default:
		}
	}
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// reuser returns a Fetcher that trusts the hosts and uses connections for a minute of the clock
// that the returned function moves.
func reuser(t *testing.T, names *outboundtest.Names, hosts ...*host) (*Fetcher, func(time.Duration)) {
	t.Helper()
	roots := x509.NewCertPool()
	config := Config{
		Guard: outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 443), Schemes: []string{"https"}, Time: 10 * time.Second,
		MaxBody: 1000, MaxHeader: 4000, Reuse: time.Minute, RootCAs: func() *x509.CertPool { return roots },
	}
	if names != nil {
		config.Resolver = names.Resolver()
	}
	for _, h := range hosts {
		roots.AddCert(h.Certificate())
	}
	var mu sync.Mutex
	now := time.Now()
	f := &Fetcher{config, &reusing{config: config, now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }}}
	t.Cleanup(f.CloseIdleConnections)
	return f, func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
}

// send posts a body and returns the response, which must come.
func send(t *testing.T, f *Fetcher, url string) Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.Send(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestReuse checks that requests share a connection for the configured time, that the host name
// is then looked up again, and that its new address is checked.
func TestReuse(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Idempotency-Key"]) > 0 {
			t.Errorf("sent %v", r.Header)
		}
		_, _ = io.WriteString(w, "answer")
	}
	first := newHost(t, "127.0.0.1:0", answer)
	_, port, err := net.SplitHostPort(first.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second := newHost(t, "127.0.0.2:"+port, answer)
	names := outboundtest.NewNames(t, "127.0.0.1", "127.0.0.2", "10.0.0.1")
	f, advance := reuser(t, names, first, second)
	url := "https://example.com:" + port
	for i := range 6 {
		if got := send(t, f, url); got.Status != http.StatusOK || string(got.Body) != "answer" {
			t.Errorf("%d: %+v", i, got)
		}
		advance(time.Minute/3 + time.Second)
	}
	if a, b := first.opened.Load(), second.opened.Load(); a != 1 || b != 1 || names.Lookups() != 2 {
		t.Errorf("%d and %d connections after %d lookups, want one each", a, b, names.Lookups())
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Send(request); !errors.Is(err, outbound.ErrAddress) {
		t.Errorf("%v, want that the address is refused", err)
	}
}

// TestResponsesThatEndAConnection checks that a connection is not used again after a response
// that is longer than MaxBody, and after one that changes the protocol, whose connection no
// timeout would end.
func TestResponsesThatEndAConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler     http.HandlerFunc
		status      int
		connections int64
	}{
		"as long as allowed": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 999)) }, 200, 1},
		"too long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000000")
			for range 1000 {
				if _, err := w.Write(make([]byte, 1_000_000)); err != nil {
					return
				}
			}
		}, 200, 3},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the client closes it
		}, 101, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "127.0.0.1:0", c.handler)
			f, _ := reuser(t, nil, h)
			for range 3 {
				if got := send(t, f, h.URL); got.Status != c.status || len(got.Body) > 1000 {
					t.Errorf("status %d and %d bytes", got.Status, len(got.Body))
				}
			}
			if got := h.opened.Load(); got != c.connections {
				t.Errorf("%d connections, want %d", got, c.connections)
			}
		})
	}
}

// TestConnectionThatItsHostClosed checks that a request is repeated whose connection the host
// closes in place of a response, as hosts do with connections that were not used for a while.
// The first request on a connection is not repeated.
func TestConnectionThatItsHostClosed(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	closes := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	}
	h := newHost(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
		if n := requests.Add(1); n == 2 || n > 3 {
			closes(w)
		}
	})
	f, _ := reuser(t, nil, h)
	for range 2 {
		if got := send(t, f, h.URL); got.Status != http.StatusOK {
			t.Errorf("%+v", got)
		}
	}
	if n := requests.Load(); n != 3 || h.opened.Load() != 2 {
		t.Errorf("%d requests over %d connections, want 3 over 2", n, h.opened.Load())
	}
	f.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Send(request); err == nil || requests.Load() != 4 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
}
