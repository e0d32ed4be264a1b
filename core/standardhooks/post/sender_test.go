package post_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/standardhooks/post"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// receiver starts an https server on the loopback. It returns a Config that trusts the
// server and allows the loopback.
func receiver(t *testing.T, handler http.HandlerFunc) (*httptest.Server, post.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // before, the server does not notice that the client has gone
		if err != nil {
			t.Errorf("%v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, post.Config{Allowed: loopback, Roots: func() *x509.CertPool { return roots }}
}

// request returns an attempt to deliver a message to a URL.
func request(url string) standardhooks.Request {
	return standardhooks.Request{URL: url, ID: "id-1", At: time.Now(), Body: []byte(`{"type":"sent"}`), Secrets: []string{standardhooks.NewSecret()}}
}

// TestPostIsVerified checks that the library of the specification accepts the request as it
// arrives.
func TestPostIsVerified(t *testing.T) {
	t.Parallel()
	var r standardhooks.Request
	s, cfg := receiver(t, func(w http.ResponseWriter, got *http.Request) {
		body, err := io.ReadAll(got.Body)
		if err != nil || got.Method != http.MethodPost || got.Header.Get("Content-Type") != "application/json" || got.URL.RawQuery != "a=1" {
			t.Errorf("%s %s %v: %v", got.Method, got.URL, got.Header, err)
		}
		for _, secret := range r.Secrets {
			hook, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = hook.Verify(body, got.Header)
			}
			if err != nil {
				t.Errorf("%v", err)
			}
		}
		w.WriteHeader(http.StatusAccepted)
	})
	r = request(s.URL + "/hook?a=1")
	r.Secrets = append(r.Secrets, standardhooks.NewSecret())
	if got := post.New(cfg).Post(t.Context(), r); got.Status != http.StatusAccepted || !got.Delivered() || got.Problem != "" {
		t.Errorf("%+v", got)
	}
}

// TestResponses checks what is kept of responses: no redirect is followed, and of the body
// only a short, visible beginning.
func TestResponses(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	s, cfg := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/followed", http.StatusTemporaryRedirect)
		case "/followed":
			followed.Store(true)
		case "/endless":
			w.WriteHeader(http.StatusInternalServerError)
			for range 100 {
				if _, err := io.WriteString(w, strings.Repeat("e", 64<<10)); err != nil {
					return
				}
			}
		case "/control":
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "\x1b[31mred\u202e\x00 \xff`") // the test reads it
		case "/hangs":
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, "part") // the test reads it
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/redirect": {http.StatusTemporaryRedirect, ""},
		"/endless":  {http.StatusInternalServerError, strings.Repeat("e", 199) + "…"},
		"/control":  {http.StatusBadGateway, "[31mred \uFFFD'"},
		"/hangs":    {http.StatusOK, "part"},
	} {
		ctx := t.Context()
		if path == "/hangs" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Second)
			defer cancel()
		}
		got := post.New(cfg).Post(ctx, request(s.URL+path))
		if got.Status != want.status || got.Text != want.text || got.Delivered() != (want.status < 300) || !utf8.ValidString(got.Text) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

// TestProblems checks the reasons of attempts without a response. The addresses outside the
// loopback are refused before a connection is opened.
func TestProblems(t *testing.T) {
	t.Parallel()
	s, cfg := receiver(t, func(http.ResponseWriter, *http.Request) {})
	ended := make(chan struct{})
	hanging, hangs := receiver(t, func(http.ResponseWriter, *http.Request) { <-ended })
	t.Cleanup(func() { close(ended) }) // before the receiver is closed, which waits for the request
	public, untrusted, private := cfg, cfg, cfg
	public.Allowed, untrusted.Roots = nil, x509.NewCertPool
	private.Allowed, private.Resolver = nil, outboundtest.NewNames(t, "10.0.0.1", "169.254.169.254", "127.0.0.1", "").Resolver()
	closed := httptest.NewTLSServer(nil)
	closed.Close()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	unsigned := request(s.URL)
	unsigned.Secrets = []string{"whsec_"}
	for _, tc := range []struct {
		name string
		ctx  context.Context
		cfg  post.Config
		r    standardhooks.Request
		want standardhooks.Problem
	}{
		{"loopback", t.Context(), public, request(s.URL), standardhooks.RefusedAddress},
		{"private", t.Context(), private, request("https://example.com"), standardhooks.RefusedAddress},
		{"metadata service", t.Context(), private, request("https://example.com"), standardhooks.RefusedAddress},
		{"rebinding to the loopback", t.Context(), private, request("https://example.com"), standardhooks.RefusedAddress},
		{"unknown host", t.Context(), private, request("https://example.com"), standardhooks.UnknownHost},
		{"certificate", t.Context(), untrusted, request(s.URL), standardhooks.BadCertificate},
		{"closed port", t.Context(), cfg, request(closed.URL), standardhooks.NotConnected},
		{"slow", short, hangs, request(hanging.URL), standardhooks.TimedOut},
		{"http", t.Context(), cfg, request(strings.Replace(s.URL, "https", "http", 1)), standardhooks.NotConnected},
		{"not signed", t.Context(), cfg, unsigned, standardhooks.NotSent},
	} {
		got := post.New(tc.cfg).Post(tc.ctx, tc.r)
		if got.Problem != tc.want || got.Status != 0 || got.Delivered() {
			t.Errorf("%s: %+v, want %s", tc.name, got, tc.want)
		}
	}
}
