package fetch_test

import (
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

func TestGet(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 1)
	s, config, d := site(t, func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	})
	fetcher := fetch.New(config)
	for range 2 {
		if body, err := fetcher.Get(t.Context(), s.URL+"/file"); err != nil || len(body) != 1000 {
			t.Errorf("%d bytes, %v", len(body), err)
		}
		h := <-headers
		if h.Get("User-Agent") != "Mailhelm/test" || h.Get("Cookie") != "" || h.Get("Accept-Encoding") != "" || h.Get("Accept") != "" {
			t.Errorf("sent %v", h)
		}
	}
	if len(d.allowed) != 2 {
		t.Errorf("two fetches took the connections %v", d.allowed)
	}
}

// TestDo checks that a POST request has the same limit of the response body as a GET
// request.
func TestDo(t *testing.T) {
	t.Parallel()
	s, config, _ := site(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	for sent, want := range map[string]error{"sent": nil, strings.Repeat("x", 1001): fetch.ErrTooLong} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := fetch.New(config).Do(request); !errors.Is(err, want) || err == nil && string(body) != sent {
			t.Errorf("%q, %v, want %v", body, err, want)
		}
	}
}

// TestLimits checks that a fetch fails with the right error if the body is too long or the
// response too slow. A content type or a compression that is not accepted must also give
// the right error. If the header is too long, the fetch must fail, whatever the error is.
func TestLimits(t *testing.T) {
	t.Parallel()
	answer := func(header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set(header, value)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    error
	}{
		"a long body": {answer("Content-Length", "1001", strings.Repeat(" ", 1001)), fetch.ErrTooLong},
		"a body without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 500)); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
			}
		}, fetch.ErrTooLong},
		"a slow header": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, fetch.ErrTooSlow},
		"a slow body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, fetch.ErrTooSlow},
		"another type":    {answer("Content-Type", "text/html", "{}"), fetch.ErrContentType},
		"compressed":      {answer("Content-Encoding", "gzip", "{}"), fetch.ErrCompressed},
		"ends too early":  {answer("Content-Length", "500", "{"), io.ErrUnexpectedEOF},
		"of another JSON": {answer("Content-Type", "application/client+json", "{}"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, config, _ := site(t, c.handler)
			config.Content = fetch.JSON
			if errors.Is(c.want, fetch.ErrTooSlow) {
				config.Time = 300 * time.Millisecond
			}
			if body, err := fetch.New(config).Get(t.Context(), s.URL); !errors.Is(err, c.want) {
				t.Errorf("%q, %v, want %v", body, err, c.want)
			}
		})
	}
	t.Run("a long header", func(t *testing.T) {
		t.Parallel()
		s, config, _ := site(t, answer("X", strings.Repeat("x", 20_000), "{}"))
		if _, err := fetch.New(config).Get(t.Context(), s.URL); err == nil {
			t.Error("was read")
		}
	})
}

// TestRedirects checks that a redirect is not followed and is returned as a StatusError
// with its status.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		requests := make(chan string, 2)
		s, config, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
			requests <- r.URL.Path
			http.Redirect(w, r, "/elsewhere", status)
		})
		_, err := fetch.New(config).Get(t.Context(), s.URL+"/first")
		if answered, ok := errors.AsType[*fetch.StatusError](err); !ok || answered.Status != status {
			t.Errorf("%d: %v", status, err)
		}
		if path := <-requests; path != "/first" || len(requests) != 0 {
			t.Errorf("%d: %s was requested, and %d more", status, path, len(requests))
		}
	}
}

// TestNothingIsSent checks that no request is sent for a URL whose scheme is not allowed,
// or to a server without a trusted certificate. No request may be sent either if the Config
// sets no schemes or no time limit.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 10)
	s, config, d := site(t, func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.Path })
	for _, url := range []string{strings.Replace(s.URL, "https", "http", 1), "ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1", ""} {
		if _, err := fetch.New(config).Get(t.Context(), url); !errors.Is(err, fetch.ErrScheme) {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := fetch.New(config).Get(t.Context(), "https://%zz/"); err == nil {
		t.Error("a URL that is none was fetched")
	}
	if len(d.allowed) != 0 {
		t.Errorf("connected to %v", d.allowed)
	}
	unknown := config
	unknown.RootCAs = x509.NewCertPool
	if _, err := fetch.New(unknown).Get(t.Context(), s.URL); err == nil {
		t.Error("a server without a trusted certificate was read")
	}
	for name, missing := range map[string]func(*fetch.Config){
		"schemes": func(c *fetch.Config) { c.Schemes = nil },
		"time":    func(c *fetch.Config) { c.Time = 0 },
	} {
		c := config
		missing(&c)
		if _, err := fetch.New(c).Get(t.Context(), s.URL); err == nil {
			t.Errorf("fetched without %s", name)
		}
	}
	if len(requests) != 0 {
		t.Errorf("%d requests were sent", len(requests))
	}
}
