package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the tracing span of a call, a child of the span in ctx. Without a tracer
// it returns ctx unchanged and allocates no memory.
func (g *Guard) startSpan(ctx context.Context, p *passage) (context.Context, trace.Span) {
	if g.Tracer == nil {
		return ctx, nil
	}
	return g.Tracer.Start(ctx, p.info.Name, trace.WithTimestamp(p.call.Now), trace.WithAttributes(
		attribute.String("mailhelm.operation", p.info.Name),
		attribute.String("mailhelm.surface", string(p.call.Surface)),
	))
}

// endSpan records the outcome of the call in the span, with the same values as the metrics,
// and ends it. Faults of Mailhelm or the sending account, and overload, mark the span as an
// error; refusals do not.
func (g *Guard) endSpan(span trace.Span, outcome string) {
	if span == nil {
		return
	}
	span.SetAttributes(attribute.String("mailhelm.outcome", outcome))
	switch core.Code(outcome) {
	case core.CodeInternalError, core.CodeUpstreamUnavailable, core.CodeTemporarilyUnavailable, core.CodeOverloaded:
		span.SetAttributes(attribute.String("error.type", outcome))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(g.Clock()))
}
