// Package tracing sends spans to a collector by OTLP over HTTP. It is the only
// place that knows the SDK of OpenTelemetry: everything else sees the API. It
// does not decide what becomes a span or what a span says.
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

// Config says where spans go and who sends them.
type Config struct {
	// Endpoint is the base URL of the collector; "/v1/traces" is added to its path,
	// as OTEL_EXPORTER_OTLP_ENDPOINT has it. "" makes no spans at all.
	Endpoint string
	// Version of the program.
	Version string
	Log     *slog.Logger
}

const (
	scope      = "github.com/mailhelm/mailhelm"
	tracesPath = "v1/traces"
	// flushTimeout bounds how long a collector that does not answer holds up the
	// end of the program.
	flushTimeout = 3 * time.Second
)

// Exporter makes spans and sends them. One without an endpoint does nothing.
type Exporter struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// Open makes the exporter. It does not wait for the collector, which may come
// later. What Config does not say, such as headers, sampling and attributes of
// the resource, is read from the standard OTEL variables.
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

// Tracer is nil when there is no endpoint, so that whoever is handed it can
// leave out everything that spans cost.
func (e *Exporter) Tracer() trace.Tracer {
	if e.provider == nil {
		return nil
	}
	return e.provider.Tracer(scope)
}

// Close sends what is left, for at most three seconds, also when ctx has ended.
// What cannot be sent is lost, which is logged and is no failure of the program.
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

// tracesURL is where an endpoint takes spans.
func tracesURL(endpoint string) (string, error) {
	if err := CheckEndpoint(endpoint); err != nil {
		return "", err
	}
	return url.JoinPath(endpoint, tracesPath)
}

// CheckEndpoint refuses what is no base URL of a collector.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return errors.New("must be http or https with a host, without user, query or fragment, such as http://localhost:4318")
	}
	return nil
}

// reporting logs what the SDK would hand to a handler that all hosts of a
// process share.
type reporting struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

// ExportSpans never fails: spans that could not be sent are lost either way.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := r.SpanExporter.ExportSpans(ctx, spans); err != nil {
		r.log.WarnContext(ctx, "spans could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}
