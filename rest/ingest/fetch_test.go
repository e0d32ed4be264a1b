package ingest_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/ingest"
)

// TestFetcher checks that the fetcher returns a document, follows no redirect and limits
// the length of the document. By default the fetcher must not connect to this machine.
func TestFetcher(t *testing.T) {
	t.Parallel()
	reached := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		switch r.URL.Path {
		case "/file":
			_, _ = w.Write([]byte("here"))
		case "/giant":
			_, _ = w.Write(make([]byte, 1<<20))
		case "/away":
			http.Redirect(w, r, "/file", http.StatusFound)
		case "/half":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		}
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	inside := ingest.NewFetcher(ingest.FetcherConfig{Roots: roots, Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if got, err := inside.Get(t.Context(), server.URL+"/file"); err != nil || string(got) != "here" {
		t.Errorf("%s, %v", got, err)
	}
	for path, want := range map[string]string{"/giant": "longer than", "/away": "status 302", "/half": "EOF"} {
		if _, err := inside.Get(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	before := reached
	for name, f := range map[string]ingest.Fetcher{
		"without leave":       ingest.NewFetcher(ingest.FetcherConfig{Roots: roots}),
		"without trust in it": ingest.NewFetcher(ingest.FetcherConfig{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	} {
		if _, err := f.Get(t.Context(), server.URL+"/file"); err == nil {
			t.Errorf("%s: fetched", name)
		}
	}
	if reached != before {
		t.Error("the server was reached")
	}
}
