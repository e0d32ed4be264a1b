package guardrails

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"go.opentelemetry.io/otel/trace"
)

// observe writes the log line of a finished call, updates the metrics and returns the
// outcome. The log line contains ids, the credential's name and the operation's name. It
// contains no arguments, results or addresses.
func (g *Guard) observe(ctx context.Context, p *passage, err error) string {
	took := g.Clock().Sub(p.call.Now)
	outcome, level := outcomeOf(ctx, p, err)
	g.metrics.count(p, outcome, err, took.Seconds())
	if p.call.Surface == core.Agent && outcome != callerGone {
		g.countUsage(p.call.Principal, p.info.Name, usageOutcome(p, err))
	}
	if !g.Log.Enabled(ctx, level) {
		return outcome
	}
	attrs := []slog.Attr{
		slog.String("request_id", p.call.RequestID),
		slog.String("org_id", p.call.Principal.Org.ID),
		slog.String("client", p.call.Principal.Credential.Name),
		slog.String("surface", string(p.call.Surface)),
		slog.String("operation", p.info.Name),
		slog.String("outcome", outcome),
		slog.Duration("took", took),
	}
	if level >= slog.LevelWarn {
		attrs = append(attrs, slog.String("cause", err.Error()))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()))
	}
	g.Log.LogAttrs(ctx, level, "call", attrs...)
	return outcome
}

// callerGone is the outcome of a call whose caller closed the connection before the
// response. Errors caused by the disconnection are not counted as refusals.
const callerGone = "caller_gone"

// outcomeOf returns the outcome of a call and its log level. The level is error for faults
// of Mailhelm. It is warning for overload and for faults of the sending account. It is info
// for refusals, success and callers who disconnected.
func outcomeOf(ctx context.Context, p *passage, err error) (string, slog.Level) {
	if err == nil {
		switch {
		case p.confirm != nil:
			return "confirmation_required", slog.LevelInfo
		case p.replayed:
			return "replayed", slog.LevelInfo
		}
		return "ok", slog.LevelInfo
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return callerGone, slog.LevelInfo
	}
	e := core.AsError(err)
	switch e.Code {
	case core.CodeInternalError, core.CodeTemporarilyUnavailable:
		return string(e.Code), slog.LevelError
	case core.CodeUpstreamUnavailable, core.CodeOverloaded:
		return string(e.Code), slog.LevelWarn
	default:
		return string(e.Code), slog.LevelInfo
	}
}
