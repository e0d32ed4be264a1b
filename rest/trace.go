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

// propagator reads the parent span and the baggage from request headers (W3C Trace Context
// and Baggage).
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// Tracing creates an OpenTelemetry span for each request to one host, by the semantic
// conventions for HTTP. A span has the pattern of the route, not the path or the query,
// which contain email addresses.
type Tracing struct {
	tracer trace.Tracer
	clock  core.Clock
	place  []attribute.KeyValue // of every span
}

// NewTracing returns a Tracing for the host of the given URL (base). For a nil tracer it
// returns nil, which creates no spans.
func NewTracing(tracer trace.Tracer, base string, clock core.Clock) *Tracing {
	if tracer == nil {
		return nil
	}
	return &Tracing{tracer: tracer, clock: clock, place: placeOf(base)}
}

// TraceRequest calls answer within a span for the request. answer must write the response
// and return its status. The parent span comes from the header traceparent. route is the
// path pattern with {name}, or "" for a path without a route.
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

// trace is the middleware that creates a span for each request.
func (s *Server) trace(c *gin.Context) {
	s.tracing.TraceRequest(c.Request, s.pattern(c), func(r *http.Request) int {
		c.Request = r
		c.Next()
		return c.Writer.Status()
	})
}

// spanMethod returns the HTTP method for a span's name, or "HTTP" for an unknown method.
func spanMethod(method string) string {
	if known := knownMethod(method); known != otherMethod {
		return known
	}
	return "HTTP"
}

// attributesOf returns the attributes of a request's span, which include neither the path
// nor the query.
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

// protocolVersion returns the HTTP version of a request in the form of OpenTelemetry, "1.1"
// or "2".
func protocolVersion(r *http.Request) string {
	if r.ProtoMajor > 1 {
		return strconv.Itoa(r.ProtoMajor)
	}
	return strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor)
}

// placeOf returns the attributes that all spans have: scheme, host and port of the given
// URL, the public address of the API.
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
