package monitoring

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestRoutes checks the template of paths, also of paths that match several templates.
func TestRoutes(t *testing.T) {
	t.Parallel()
	all := newRoutes([]string{
		"/", "/v1/contacts/{email}", "/v1/contacts/{email}/lists", "/v1/contacts/import", "/v1/{kind}/latest", "/docs", "/docs/{page...}", "/board", "/board/", "/board/{$}", "/u/",
	})
	for path, want := range map[string]string{
		"/": "/", "": "/", "/v1/contacts/ann%2Fbob@example.com": "/v1/contacts/{email}", "/v1/contacts/import": "/v1/contacts/import",
		"/v1/contacts/import/lists": "/v1/contacts/{email}/lists", "/v1/segments/latest": "/v1/{kind}/latest", "/v1/contacts/latest": "/v1/contacts/{email}",
		"/v1/contacts": "", "/v1/contacts/": "", "/v1/contacts/a/b": "", "/docs": "/docs", "/docs/": "/docs/{page...}", "/docs/a/b": "/docs/{page...}",
		"/board": "/board", "/board/": "/board/{$}", "/board/x/y": "/board/", "/u/token": "/u/", "/nothing": "", "//": "",
	} {
		if got := all.find(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// counted returns the values of a counter or gauge, or the number of observations of a
// histogram, by the values of the labels.
func counted(t *testing.T, r prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += l.GetValue() + " "
			}
			values[labels] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// TestRequestsAreCounted checks that all series exist at first, and that a request is counted
// by its template and the class of its status, also if the handler panics or writes no status.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	handler := NewRequests(r).Count("api", []string{"/things/{id}"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/things/panic":
			panic(http.ErrAbortHandler)
		case "/things/silent":
		case "/things/stream":
			fmt.Fprint(w, "a")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			w.(http.Flusher).Flush() //nolint:forcetypeassert // Gin asserts it too
		case "/things/early":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	want := map[string]float64{}
	for _, route := range []string{"", "/things/{id}"} {
		for _, class := range []string{"2xx", "3xx", "4xx", "5xx"} {
			want["api "+route+" "+class+" "] = 0
		}
	}
	if got := counted(t, r, "mailhelm_http_requests_total"); !maps.Equal(got, want) {
		t.Errorf("at first %v, want %v", got, want)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	// With a connection of its own, no request is repeated after a panic.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{"/things/silent", "/things/stream", "/things/early", "/things/missing", "/elsewhere", "/things/panic"} {
		a, err := client.Get(server.URL + path)
		if err == nil {
			_, _ = io.Copy(io.Discard, a.Body)
			_ = a.Body.Close()
		}
		if (err != nil) != (path == "/things/panic") {
			t.Errorf("%s: %v", path, err)
		}
	}
	server.Close() // waits for the handlers
	for labels, n := range map[string]float64{"/things/{id} 2xx": 2, "/things/{id} 3xx": 1, "/things/{id} 4xx": 1, "/things/{id} 5xx": 1, " 4xx": 1} {
		want["api "+labels+" "] = n
	}
	if got := counted(t, r, "mailhelm_http_requests_total"); !maps.Equal(got, want) {
		t.Errorf("at last %v, want %v", got, want)
	}
	if got := counted(t, r, "mailhelm_http_request_seconds"); got["api "] != 6 {
		t.Errorf("%v durations", got)
	}
}
