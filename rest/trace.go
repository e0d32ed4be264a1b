package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// propagator reads the parent span and the baggage (W3C Trace Context and Baggage).
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// Tracing starts a span for each request to one address, by the HTTP conventions of
// OpenTelemetry. A span has the route instead of the path and the query, which contain
// addresses.
type Tracing struct {
	tracer trace.Tracer
	clock  core.Clock
	place  []attribute.KeyValue // of every span
}

// NewTracing returns a Tracing for requests at base, nil for a nil tracer. A nil Tracing
// starts no spans.
func NewTracing(tracer trace.Tracer, base string, clock core.Clock) *Tracing {
	if tracer == nil {
		return nil
	}
	return &Tracing{tracer: tracer, clock: clock, place: placeOf(base)}
}

// TraceRequest runs answer within a span of the request. answer answers the request and returns
// the status. The header traceparent names the parent. route is the pattern of the route
// with {name}, "" for a path without one.
func (t *Tracing) TraceRequest(r *http.Request, route string, answer func(*http.Request) int) {
	if t == nil {
		answer(r)
		return
	}
	arrived := t.clock()
	ctx := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, strings.TrimSpace(spanMethod(r.Method)+" "+route),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(arrived),
		trace.WithAttributes(t.place...), trace.WithAttributes(attributesOf(r, route)...))
	defer func() { span.End(trace.WithTimestamp(t.clock())) }()
	status := answer(r.WithContext(ctx))
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
}

// trace is the middleware that starts a span for each request.
func (s *Server) trace(c *gin.Context) {
	s.tracing.TraceRequest(c.Request, s.pattern(c), func(r *http.Request) int {
		c.Request = r
		c.Next()
		return c.Writer.Status()
	})
}

// spanMethod returns the method for a span's name, or HTTP for methods that HTTP does not
// define.
func spanMethod(method string) string {
	if known := knownMethod(method); known != otherMethod {
		return known
	}
	return "HTTP"
}

// attributesOf returns the attributes of a request's span. It has no path and no query.
func attributesOf(r *http.Request, route string) []attribute.KeyValue {
	method := knownMethod(r.Method)
	if method == otherMethod {
		method = "_OTHER"
	}
	all := []attribute.KeyValue{
		attribute.String("http.request.method", method),
		attribute.String("network.protocol.version", protocolVersion(r)),
	}
	if route != "" {
		all = append(all, attribute.String("http.route", route))
	}
	return all
}

// protocolVersion returns the HTTP version of a request as OpenTelemetry writes it: "1.1" or
// "2".
func protocolVersion(r *http.Request) string {
	if r.ProtoMajor > 1 {
		return strconv.Itoa(r.ProtoMajor)
	}
	return strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor)
}

// placeOf returns the attributes of all spans: the address of this host.
func placeOf(address string) []attribute.KeyValue {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	all := []attribute.KeyValue{attribute.String("url.scheme", u.Scheme), attribute.String("server.address", u.Hostname())}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		all = append(all, attribute.Int("server.port", port))
	}
	return all
}
