package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// trace is the middleware that makes a span of each request, after the HTTP
// conventions of OpenTelemetry. The path and the query are left out although the
// conventions have them, because they hold addresses; the route stands for them.
func (s *Server) trace(c *gin.Context) {
	arrived := s.cfg.Clock()
	ctx := propagator.Extract(c.Request.Context(), propagation.HeaderCarrier(c.Request.Header))
	ctx, span := s.cfg.Tracer.Start(ctx, spanName(c),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(arrived),
		trace.WithAttributes(s.place...), trace.WithAttributes(attributesOf(c)...))
	defer func() { span.End(trace.WithTimestamp(s.cfg.Clock())) }()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
	status := c.Writer.Status()
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
}

func spanName(c *gin.Context) string {
	if route := braced(c.FullPath()); route != "" {
		return spanMethod(c.Request.Method) + " " + route
	}
	return spanMethod(c.Request.Method)
}

// braced writes a parameter of Gin's as the API's description does: {name}.
func braced(route string) string {
	segments := strings.Split(route, "/")
	for i, segment := range segments {
		if name, parameter := strings.CutPrefix(segment, ":"); parameter {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// spanMethod is what a span's name begins with: HTTP stands for made-up methods.
func spanMethod(method string) string {
	if known := knownMethod(method); known != otherMethod {
		return known
	}
	return "HTTP"
}

func attributesOf(c *gin.Context) []attribute.KeyValue {
	method := knownMethod(c.Request.Method)
	if method == otherMethod {
		method = "_OTHER"
	}
	all := []attribute.KeyValue{
		attribute.String("http.request.method", method),
		attribute.String("network.protocol.version", protocolVersion(c.Request)),
	}
	if route := braced(c.FullPath()); route != "" {
		all = append(all, attribute.String("http.route", route))
	}
	return all
}

func protocolVersion(r *http.Request) string {
	if r.ProtoMajor > 1 {
		return strconv.Itoa(r.ProtoMajor)
	}
	return strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor)
}

// placeOf is what all spans have in common: where clients find this host.
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
