// Package tracing sends spans to a collector by OTLP over HTTP. Only this package uses
// the SDK of OpenTelemetry; other packages use its API. It does not decide what becomes
// a span or which attributes a span has.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config configures the exporter.
type Config struct {
	// Endpoint is the base URL of the collector. "/v1/traces" is appended to its path, as
	// for OTEL_EXPORTER_OTLP_ENDPOINT. "" turns spans off.
	Endpoint string
	// Version is the version of the program.
	Version string
	Log     *slog.Logger
}

const (
	// scope names the instrumentation of all spans, tracesPath is the path that OTLP
	// over HTTP defines.
	scope      = "github.com/mailhelm/mailhelm"
	tracesPath = "v1/traces"
	// flushTimeout limits how long an unresponsive collector delays the end of the program.
	flushTimeout = 3 * time.Second
)

// Exporter creates and sends spans. Without an endpoint it does nothing. Each host has
// its own.
type Exporter struct {
	// provider is nil without an endpoint.
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// Open returns an exporter. It does not wait for the collector, which may start later.
// Headers, sampling and resource attributes come from the standard OTEL variables.
func Open(ctx context.Context, cfg Config) (*Exporter, error) {
	if cfg.Endpoint == "" {
		return &Exporter{log: cfg.Log}, nil
	}
	address, err := tracesURL(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("spans: %w", err)
	}
	who, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "mailhelm"),
			attribute.String("service.version", cfg.Version),
			attribute.String("service.instance.id", core.NewID()),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spans: resource: %w", err), client.Shutdown(ctx))
	}
	return &Exporter{
		provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(&reporting{SpanExporter: client, log: cfg.Log}), sdktrace.WithResource(who)),
		log:      cfg.Log,
	}, nil
}

// Tracer returns the tracer, or nil without an endpoint. With nil, callers can skip all
// work for spans.
func (e *Exporter) Tracer() trace.Tracer {
	if e.provider == nil {
		return nil
	}
	return e.provider.Tracer(scope)
}

// Close sends the remaining spans, for at most three seconds, even if ctx has ended. It
// logs spans that it could not send.
func (e *Exporter) Close(ctx context.Context) {
	if e.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		e.log.WarnContext(ctx, "spans were lost at the end", "error", err)
	}
}

// tracesURL returns the URL that receives spans. It fails as CheckEndpoint does.
func tracesURL(endpoint string) (string, error) {
	if err := CheckEndpoint(endpoint); err != nil {
		return "", err
	}
	return url.JoinPath(endpoint, tracesPath)
}

// CheckEndpoint returns an error unless endpoint is the base URL of a collector. It
// contacts nothing.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return errors.New("must be http or https with a host, without user, query or fragment, such as http://localhost:4318")
	}
	return nil
}

// reporting is an exporter that logs errors with its host's logger. The SDK would pass
// them to a handler shared by all hosts of a process.
type reporting struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

// ExportSpans sends spans. It logs an error and returns nil: the spans are lost either
// way.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := r.SpanExporter.ExportSpans(ctx, spans); err != nil {
		r.log.WarnContext(ctx, "spans could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}
