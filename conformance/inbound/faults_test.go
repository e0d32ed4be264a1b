package inbound

import (
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

// unruly is an https server on the loopback. Until it is cured, the path of a request says what
// is wrong with the answer.
type unruly struct {
	*httptest.Server
	roots *x509.CertPool

	mu    sync.Mutex
	cured bool
	// ids has the values of webhook-id by path.
	ids map[string][]string
	// written is the number of bytes of huge answers.
	written int
}

func newUnruly(t *testing.T) *unruly {
	t.Helper()
	u := &unruly{roots: x509.NewCertPool(), ids: map[string][]string{}}
	u.Server = httptest.NewUnstartedServer(u)
	u.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	u.StartTLS()
	t.Cleanup(u.Close)
	u.roots.AddCert(u.Certificate())
	return u
}

// note notes a request and reports whether the server is cured.
func (u *unruly) note(r *http.Request) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ids[r.URL.Path] = append(u.ids[r.URL.Path], r.Header.Get("webhook-id"))
	return u.cured
}

func (u *unruly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil || u.note(r) {
		return
	}
	switch r.URL.Path {
	case "/fails":
		http.Error(w, "the \x1b[31mdisk\x1b[0m is full", http.StatusInternalServerError)
	case "/hangs":
		<-r.Context().Done()
	case "/huge":
		w.WriteHeader(http.StatusInternalServerError)
		u.writeHuge(w)
	case "/redirects":
		http.Redirect(w, r, "/followed", http.StatusTemporaryRedirect)
	default:
		u.answerRaw(w, r.URL.Path)
	}
}

// writeHuge writes up to a gigabyte.
func (u *unruly) writeHuge(w io.Writer) {
	part := make([]byte, 1<<20)
	for range 1 << 10 {
		n, err := w.Write(part)
		u.mu.Lock()
		u.written += n
		u.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// answerRaw answers in ways that no HTTP library supports.
func (u *unruly) answerRaw(w http.ResponseWriter, path string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	switch path {
	case "/drips":
		repeat(conn, "X", 50*time.Millisecond)
	case "/endless":
		repeat(conn, "X-Endless: "+strings.Repeat("x", 1000)+"\r\n", time.Microsecond)
	case "/breaks":
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart")
	case "/frames": // a SETTINGS frame of HTTP/2
		_, _ = io.WriteString(conn, "\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		_, _ = io.Copy(io.Discard, conn)
	case "/switches":
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}
}

// repeat begins a response and writes a text again and again, until the client ends the
// connection.
func repeat(conn net.Conn, text string, every time.Duration) {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	again := time.NewTicker(every)
	defer again.Stop()
	for ; err == nil; <-again.C {
		_, err = io.WriteString(conn, text)
	}
}

// TestFaultyEndpoints delivers mail to endpoints that fail in different ways. The log must say
// what happened. When they are cured, each message must arrive with the webhook-id of before.
func TestFaultyEndpoints(t *testing.T) {
	t.Parallel()
	u := newUnruly(t)
	p := product.Start(t, product.Options{WebhookCAs: u.roots, WebhookTimeout: 2 * time.Second})
	p.Clock.Freeze(p.Clock.Now())                                // no delivery is tried again before it is cured
	other := strings.Replace(u.URL, "127.0.0.1", "localhost", 1) // not a name of the certificate
	faults := map[string]struct {
		base   string
		status int
		detail string
	}{
		"fails":     {u.URL, http.StatusInternalServerError, "The endpoint answered 500: the [31mdisk[0m is full"},
		"hangs":     {u.URL, 0, "did not answer within"},
		"huge":      {u.URL, http.StatusInternalServerError, "The endpoint answered 500"},
		"redirects": {u.URL, http.StatusTemporaryRedirect, "The endpoint answered 307"},
		"drips":     {u.URL, 0, "did not answer within"},
		"endless":   {u.URL, 0, "No connection to the endpoint could be opened, or it broke."},
		"closes":    {u.URL, 0, "No connection to the endpoint could be opened, or it broke."},
		"frames":    {u.URL, 0, "did not answer within"}, // they have no end of a line
		"switches":  {u.URL, http.StatusSwitchingProtocols, "The endpoint answered 101."},
		"breaks":    {u.URL, http.StatusOK, "The endpoint answered 200: part"},
		"untrusted": {other, 0, "The certificate of the endpoint is not valid."},
	}
	for name, fault := range faults {
		open(t, p, name+".example.com", fault.base+"/"+name)
	}
	for name := range faults {
		mailTo(t, p, "x@"+name+".example.com")
	}
	ids := map[string]string{}
	for name, fault := range faults {
		e := awaitStates(t, p, name+".example.com", 2)
		ids[name] = e.ID
		status := 0
		if s := e.States[1].HTTPStatus; s != nil {
			status = *s
		}
		want := "retrying"
		if name == "breaks" {
			want = "delivered" // the status had arrived
		}
		if e.Outcome != want || e.States[1].State != want || status != fault.status || !strings.Contains(e.States[1].Detail, fault.detail) {
			t.Errorf("%s: %+v with the status %d, want %d %q", name, e, status, fault.status, fault.detail)
		}
	}
	u.cure()
	for name := range faults {
		if name == "untrusted" {
			continue
		}
		product.Await(t, patience, func() error {
			if all := entries(t, p, name+".example.com"); all[0].Outcome != "delivered" {
				p.Clock.Advance(time.Second)
				return fmt.Errorf("%s: %+v", name, all)
			}
			return nil
		})
	}
	u.check(t, ids)
}

func (u *unruly) cure() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.cured = true
}

// check checks that each request has the id of its message, that no redirect was followed, and
// that only a small part of the huge answer was read.
func (u *unruly) check(t *testing.T, ids map[string]string) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	for path, sent := range u.ids {
		for _, id := range sent {
			if id != ids[strings.TrimPrefix(path, "/")] {
				t.Errorf("%s: the webhook-id is %s, want %s", path, id, ids[strings.TrimPrefix(path, "/")])
			}
		}
	}
	const buffers = 32 << 20 // of both ends of the connection
	if len(u.ids) != len(ids)-1 || u.written == 0 || u.written > buffers {
		t.Errorf("requests to %d paths of %d, %d bytes of a huge answer", len(u.ids), len(ids), u.written)
	}
}

// TestRebinding lets the name of an endpoint have private addresses in later tries. Nothing is
// sent to these.
func TestRebinding(t *testing.T) {
	t.Parallel()
	u := newUnruly(t)
	u.Config.SetKeepAlivesEnabled(false) // so that the name is looked up for each try
	names := outboundtest.NewNames(t, "127.0.0.1", "10.0.0.1", "169.254.169.254", "127.0.0.1")
	p := product.Start(t, product.Options{WebhookCAs: u.roots, WebhookNames: outboundtest.NewNames(t, "127.0.0.1").Resolver(), WebhookResolver: names.Resolver()})
	at, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.Clock.Freeze(p.Clock.Now())
	open(t, p, domain, "https://example.com:"+at.Port()+"/fails")
	mailTo(t, p, "x@"+domain)
	awaitStates(t, p, domain, 2)
	p.Clock.Advance(time.Second)
	awaitStates(t, p, domain, 3)
	u.cure()
	p.Clock.Advance(5 * time.Second)
	awaitStates(t, p, domain, 4)
	p.Clock.Advance(time.Minute)
	e := awaitStates(t, p, domain, 5)
	for i, want := range []string{"answered 500", "not on the public Internet", "not on the public Internet", "answered 200"} {
		if !strings.Contains(e.States[i+1].Detail, want) {
			t.Errorf("try %d: %+v, want %q", i+1, e.States[i+1], want)
		}
	}
	if n := len(u.ids["/fails"]); n != 2 || names.Lookups() != 4 {
		t.Errorf("%d requests after %d lookups, want 2 after 4", n, names.Lookups())
	}
}
