package clientdocument

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

var errNotDialled = errors.New("a test dials loopback only")

// dials is an additional check of a reader's connections. It records the addresses that the
// guard approved and refuses all but the loopback.
type dials struct {
	mu       sync.Mutex
	approved []string
}

func (d *dials) control(_, address string, _ syscall.RawConn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.approved = append(d.approved, address)
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().IsLoopback() {
		return errNotDialled
	}
	return nil
}

// reading returns a reader that connects only to the loopback. It also returns the record
// of the IP addresses that the reader's guard approved.
func reading(config Config) (*Reader, *dials) {
	d := &dials{}
	return newReader(config, d.control), d
}

// hands is a clock that a test sets, in nanoseconds after a fixed time.
type hands struct{ at atomic.Int64 }

func (h *hands) now() time.Time          { return time.Unix(1_800_000_000, h.at.Load()) }
func (h *hands) advance(d time.Duration) { h.at.Add(int64(d)) }

// site is a TLS server on the loopback that serves a client's metadata document and counts
// the requests.
type site struct {
	*httptest.Server
	clientID string
	requests atomic.Int64
}

func newSite(t *testing.T, handler func(s *site, w http.ResponseWriter, r *http.Request)) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(s, w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	s.clientID = s.URL + "/client.json"
	return s
}

// config returns a reader's config that trusts the site's certificate and allows fetches
// from the loopback.
func (s *site) config() Config {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return Config{Allowed: loopback, RootCAs: roots, Deadline: 10 * time.Second}
}

// members maps the names of JSON members to their values.
type members map[string]any

// documentFor returns a valid metadata document for a client id. other replaces members; a
// nil value removes one.
func documentFor(clientID string, other members) []byte {
	origin := clientID[:strings.LastIndexByte(clientID, '/')]
	d := members{"client_id": clientID, "client_name": "Agent", "redirect_uris": []string{origin + "/cb"}}
	for name, value := range other {
		if value == nil {
			delete(d, name)
		} else {
			d[name] = value
		}
	}
	raw, err := json.Marshal(d)
	if err != nil {
		panic(err) // a test's own literal
	}
	return raw
}

// serveDocument answers with a valid metadata document whose client id is the requested
// URL.
func serveDocument(s *site, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(documentFor(s.URL+r.URL.Path, nil))
}

// wantRefusal fails the test unless err is a Refusal whose text contains want and no
// internal detail.
func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	r, ok := errors.AsType[*Refusal](err)
	if !ok || !strings.Contains(r.Text, want) {
		t.Fatalf("refused with %v, want %q", err, want)
	}
	checkText(t, r.Text)
}

func checkText(t *testing.T, text string) {
	t.Helper()
	for _, internal := range []string{"127.0", "::1:", "dial", "lookup", "tcp", "x509", "ssrf", "prohibited", "context", "EOF", "\n"} {
		if strings.Contains(text, internal) && !strings.Contains(text, "http on localhost, 127.0.0.1 or [::1]") &&
			!strings.Contains(text, "http:// and localhost, 127.0.0.1 or [::1]") {
			t.Errorf("%q tells people %q", text, internal)
		}
	}
	if !strings.HasSuffix(text, ".") || len(text) > 250 {
		t.Errorf("%q is no short sentence", text)
	}
}

func mustRead(t *testing.T, r *Reader, clientID string) access.ClientDocument {
	t.Helper()
	d, err := r.ReadDocument(t.Context(), clientID)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	return d
}
