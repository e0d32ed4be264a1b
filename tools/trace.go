package tools

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Spans follow the OpenTelemetry semantic conventions for MCP. No attribute has an argument,
// a result, an address or other text of a caller. The exceptions are known names and short
// ids.

// propagator reads the parent span and the baggage (W3C Trace Context and Baggage).
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// spans starts and ends the span of each request.
type spans struct {
	tracer trace.Tracer // nil makes none
	place  []attribute.KeyValue
	clock  core.Clock
}

func newSpans(cfg Config) spans {
	return spans{tracer: cfg.Tracer, place: placeOf(cfg.MCPURL), clock: cfg.Clock}
}

// otherMethod is the name of every unknown method in spans, because callers can invent any
// number of methods.
const otherMethod = "_OTHER"

// knownMethods are the methods and notifications that spans name. Every other method is
// otherMethod.
var knownMethods = slices.Concat(modernMethods, legacyMethods, []string{
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
})

// start starts the span of a request at the time of its arrival. Without a tracer it starts
// no span and allocates nothing. The parent is the span that the message names, and the span
// of the HTTP request is linked. Without such a name, the parent is the span of the HTTP
// request.
func (s *spans) start(r *http.Request, x *exchange) *http.Request {
	if s.tracer == nil || x.span != nil {
		return r
	}
	around := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx := propagator.Extract(around, metaCarrier(x.message.params.Meta.Others))
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(x.arrived),
		trace.WithAttributes(s.place...), trace.WithAttributes(attributesOf(r, x)...),
	}
	transport := trace.SpanContextFromContext(around)
	if transport.IsValid() && !transport.Equal(trace.SpanContextFromContext(ctx)) {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: transport}))
	}
	ctx, x.span = s.tracer.Start(ctx, spanName(x), options...)
	return r.WithContext(ctx)
}

// spanName returns the name of the span. It contains the tool only if the tool exists.
func spanName(x *exchange) string {
	switch {
	case x.message.method == "":
		return http.MethodPost + " " + endpointPath // refused before it was a message
	case x.tool != "":
		return x.message.method + " " + x.tool
	}
	return methodName(x)
}

func methodName(x *exchange) string {
	if slices.Contains(knownMethods, x.message.method) {
		return x.message.method
	}
	return otherMethod
}

// attributesOf returns the attributes of a request's span at its start.
func attributesOf(r *http.Request, x *exchange) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("network.protocol.version", protocolVersion(r))}
	if x.message.method == "" {
		return append(all, attribute.String("http.request.method", http.MethodPost), attribute.String("http.route", endpointPath))
	}
	all = append(all, attribute.String("mcp.method.name", methodName(x)))
	if x.revision != "" {
		all = append(all, attribute.String("mcp.protocol.version", x.revision))
	}
	if id := traceableID(x.message.id); id != "" {
		all = append(all, attribute.String("jsonrpc.request.id", id))
	}
	if x.tool != "" {
		all = append(all, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", x.tool))
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

// maxTraceableID is the longest message id that a span may have, in characters.
const maxTraceableID = 64

// traceableID returns a message's id as text. It returns "" for an id that is long or has
// characters of addresses and sentences.
func traceableID(id jsontext.Value) string {
	text := string(id)
	if id.Kind() == '"' && json.Unmarshal(id, &text) != nil {
		return ""
	}
	if len(text) > maxTraceableID || core.RequestID([]string{text}) != text {
		return ""
	}
	return text
}

// placeOf returns the attributes of all spans: the address of this host.
func placeOf(address string) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http")}
	u, err := url.Parse(address)
	if err != nil {
		return all
	}
	all = append(all, attribute.String("server.address", u.Hostname()))
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "https":
		port = 443
	default:
		port = 80
	}
	return append(all, attribute.Int("server.port", port))
}

// failSpan marks the span as failed. It adds a JSON-RPC error code as an attribute of its
// own.
func (x *exchange) failSpan(errorType string, more ...attribute.KeyValue) {
	if x.span == nil {
		return
	}
	x.span.SetAttributes(append(more, attribute.String("error.type", errorType))...)
	x.span.SetStatus(codes.Error, "")
}

// end ends the span of a request, if it has one.
func (s *spans) end(x *exchange) {
	if x.span != nil {
		x.span.End(trace.WithTimestamp(s.clock()))
	}
}

// metaCarrier reads the members of _meta that propagate context: traceparent,
// tracestate and baggage.
type metaCarrier map[string]jsontext.Value

// Get returns the member's text, "" when it is missing or not a text.
func (m metaCarrier) Get(key string) string {
	var text string
	if value := m[key]; value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// Set does nothing: the message is only read.
func (m metaCarrier) Set(string, string) {}

// Keys returns nothing: the propagators ask for known names only.
func (m metaCarrier) Keys() []string { return nil }
