package tools

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Spans follow the OpenTelemetry semantic conventions for MCP. Their attributes contain no
// arguments, results, email addresses or other texts of the caller, except known names and
// short ids.

// propagator reads the parent span and the baggage from a request (W3C Trace Context and
// Baggage).
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// spans starts and ends the OpenTelemetry span of each request.
type spans struct {
	tracer trace.Tracer // nil disables tracing
	place  []attribute.KeyValue
	clock  core.Clock
}

func newSpans(cfg Config) spans {
	return spans{tracer: cfg.Tracer, place: placeOf(cfg.MCPURL), clock: cfg.Clock}
}

// otherMethod is the name that spans have for every unknown method. Callers can invent any
// number of methods, and each would otherwise create a new span name.
const otherMethod = "_OTHER"

// start starts the span of a request at the time of its arrival. Its parent is the span in
// the message's _meta; the span in the HTTP headers is then linked. Without a span in
// _meta, the span in the headers is the parent. Without a tracer, start does nothing and
// allocates nothing.
func (s *spans) start(r *http.Request, x *exchange) *http.Request {
	if s.tracer == nil || x.span != nil {
		return r
	}
	around := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx := propagator.Extract(around, metaCarrier(x.message.Params.Meta.Others))
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

// spanName returns the name of a request's span: the method, and the tool if it exists.
func spanName(x *exchange) string {
	switch {
	case x.message.Method == "":
		return http.MethodPost + " " + endpointPath // the request was refused before its message was read
	case x.tool != "":
		return x.message.Method + " " + x.tool
	}
	return methodName(x)
}

func methodName(x *exchange) string {
	if x.message.IsKnownMethod() {
		return x.message.Method
	}
	return otherMethod
}

// attributesOf returns the attributes that a request's span has at its start.
func attributesOf(r *http.Request, x *exchange) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("network.protocol.version", protocolVersion(r))}
	if x.message.Method == "" {
		return append(all, attribute.String("http.request.method", http.MethodPost), attribute.String("http.route", endpointPath))
	}
	all = append(all, attribute.String("mcp.method.name", methodName(x)))
	if x.message.Revision != "" {
		all = append(all, attribute.String("mcp.protocol.version", x.message.Revision))
	}
	if id := traceableID(x.message.ID); id != "" {
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

// maxTraceableID is the maximum length of a message id in a span, in bytes.
const maxTraceableID = 64

// traceableID returns a message's id as text for a span. It returns "" for a long id and
// for an id with spaces, @ or other characters of addresses and sentences.
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

// placeOf returns the attributes that all spans have: the transport, and the host and port
// of the endpoint's public URL.
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

// failSpan marks the request's span as failed with this error type, and adds more
// attributes. It does nothing if the request is not traced.
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

// metaCarrier lets the propagator read the members of _meta that have the trace context:
// traceparent, tracestate and baggage.
type metaCarrier map[string]jsontext.Value

// Get returns the text of a member. It returns "" if the member is missing or not a string.
func (m metaCarrier) Get(key string) string {
	var text string
	if value := m[key]; value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// Set does nothing, because a request's _meta is only read.
func (m metaCarrier) Set(string, string) {}

// Keys returns nil, because the propagators request only known names.
func (m metaCarrier) Keys() []string { return nil }
