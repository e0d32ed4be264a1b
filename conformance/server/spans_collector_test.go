package server

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is an HTTP server that stores the OpenTelemetry spans it receives by OTLP. It
// answers 400 to a request that it cannot decode.
type collector struct {
	url string

	mu       sync.Mutex
	spans    []*tracepb.Span
	resource map[string]string
	raw      strings.Builder // text of all received spans, which must not contain secrets
	broken   error
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := c.take(r); err != nil {
			c.broken = err
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // an empty answer accepts all
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// take stores the spans of an export request. It fails for every other request.
func (c *collector) take(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
		return fmt.Errorf("the collector got %s %s, want POST /v1/traces", r.Method, r.URL.Path)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = plain
	}
	encoded, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var batch collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(encoded, &batch); err != nil {
		return err
	}
	c.raw.WriteString(batch.String())
	for _, of := range batch.ResourceSpans {
		c.resource = texts(of.Resource.Attributes)
		for _, in := range of.ScopeSpans {
			c.spans = append(c.spans, in.Spans...)
		}
	}
	return nil
}

// named returns the received spans with the given name. The result is complete only after
// the product has stopped, because the product sends its last spans when it stops.
func (c *collector) named(t *testing.T, name string) []*tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		t.Fatal(c.broken)
	}
	var found []*tracepb.Span
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// one returns the span with this name. It fails the test unless exactly one was received.
func (c *collector) one(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	found := c.named(t, name)
	if len(found) != 1 {
		t.Fatalf("%d spans are named %q; there are %v", len(found), name, c.names())
	}
	return found[0]
}

func (c *collector) names() []string {
	var names []string
	for _, s := range c.spans {
		names = append(names, s.Name)
	}
	return names
}

// texts returns the values of OpenTelemetry attributes as text, by attribute name. Integers
// are in decimal.
func texts(attributes []*commonpb.KeyValue) map[string]string {
	all := make(map[string]string, len(attributes))
	for _, a := range attributes {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		default:
			all[a.Key] = strings.TrimPrefix(a.Value.String(), "int_value:")
		}
	}
	return all
}
