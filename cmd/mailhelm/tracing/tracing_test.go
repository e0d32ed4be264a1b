package tracing_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/tracing"
)

func TestCheckEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint, ok := range map[string]bool{
		"http://localhost:4318": true, "https://collector.example/otlp": true, "": false, "localhost:4318": false,
		"grpc://localhost": false, "http://": false, "http://user:secret@localhost": false, "http://localhost?a=b": false, "http://localhost#a": false,
	} {
		if err := tracing.CheckEndpoint(endpoint); (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

func TestWithoutAnEndpoint(t *testing.T) {
	t.Parallel()
	e, err := tracing.Open(t.Context(), tracing.Config{})
	if err != nil || e.Tracer() != nil {
		t.Errorf("%v, %v", e, err)
	}
	e.Close(t.Context())
}

// TestSpansThatCannotBeSent checks that the exporter logs a refusal by the collector. It
// also checks that /v1/traces is appended to the path of the endpoint.
func TestSpansThatCannotBeSent(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(collector.Close)
	var log bytes.Buffer
	e, err := tracing.Open(t.Context(), tracing.Config{Endpoint: collector.URL + "/otlp/", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, span := e.Tracer().Start(t.Context(), "a call")
	span.End()
	e.Close(t.Context())
	if path := <-asked; path != "/otlp/v1/traces" {
		t.Errorf("sent to %s", path)
	}
	if !strings.Contains(log.String(), "spans could not be sent") {
		t.Errorf("the log says %q", &log)
	}
}
