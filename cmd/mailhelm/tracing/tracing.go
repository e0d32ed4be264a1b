// Package tracing sends tracing spans to a collector by OTLP over HTTP. Only this package
// uses the SDK of OpenTelemetry; other packages use its API. The callers decide which spans
// exist and which attributes they have.
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
	// Endpoint is the base URL of the OTLP collector. The exporter appends "/v1/traces" to
	// its path, as for OTEL_EXPORTER_OTLP_ENDPOINT. "" turns tracing off.
	Endpoint string
	// Version is the version of this program, which is stated with each span.
	Version string
	Log     *slog.Logger
}

const (
	// scope is the instrumentation scope of all spans. tracesPath is the path that OTLP over
	// HTTP defines for spans.
	scope      = "github.com/mailhelm/mailhelm"
	tracesPath = "v1/traces"
	// flushTimeout limits how long Close waits for an unresponsive collector.
	flushTimeout = 3 * time.Second
)

// Exporter creates tracing spans and sends them to a collector. It does nothing if no
// endpoint is configured. Each host has its own exporter.
type Exporter struct {
	// provider creates the tracer; it is nil if no endpoint is configured.
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// Open returns an exporter. It fails for an invalid endpoint. It does not contact the
// collector, which may start later. Headers, sampling and resource attributes come from the
// standard OTEL variables.
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

// Tracer returns the tracer that creates spans, or nil if no endpoint is configured.
// Callers then skip all work for spans.
func (e *Exporter) Tracer() trace.Tracer {
	if e.provider == nil {
		return nil
	}
	return e.provider.Tracer(scope)
}

// Close sends the remaining spans, even if ctx has ended. It waits at most three seconds
// and logs a warning if spans were lost.
func (e *Exporter) Close(ctx context.Context) {
	if e.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		e.log.WarnContext(ctx, "spans lost at shutdown", "error", err)
	}
}

// tracesURL returns the URL to which spans are sent. It fails if endpoint is not the base
// URL of a collector.
func tracesURL(endpoint string) (string, error) {
	if err := CheckEndpoint(endpoint); err != nil {
		return "", err
	}
	return url.JoinPath(endpoint, tracesPath)
}

// CheckEndpoint returns an error unless endpoint can be the base URL of a collector: http
// or https with a host, without user, query and fragment. It contacts nothing.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return errors.New("must be http or https with a host, without user, query or fragment, such as http://localhost:4318")
	}
	return nil
}

// reporting is a span exporter that logs errors with the logger of its host. The SDK would
// pass them to one handler for the whole process.
type reporting struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

// ExportSpans sends spans to the collector. If that fails, it logs the error and returns
// nil, because the caller could not save the spans.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := r.SpanExporter.ExportSpans(ctx, spans); err != nil {
		r.log.WarnContext(ctx, "spans could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}
