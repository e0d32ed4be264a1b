package guardrails

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	calls         *prometheus.CounterVec
	seconds       *prometheus.HistogramVec
	confirmations *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_calls_total",
			Help: "Operation calls by outcome: ok, replayed, confirmation_required, caller_gone, or an error code.",
		}, []string{"operation", "surface", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mailhelm_call_seconds",
			Help:    "Time from the first rail to the result.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation", "surface"}),
		confirmations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_confirmations_total",
			Help: "Confirmations by what became of them: issued, accepted, refused.",
		}, []string{"operation", "outcome"}),
	}
	r.MustRegister(m.calls, m.seconds, m.confirmations)
	return m
}

// observe writes one log line and one count for a call. Ids and names of ours
// only: no argument, no result, no address.
func (g *Guard) observe(ctx context.Context, p *passage, err error) {
	took := g.Clock().Sub(p.call.Now)
	outcome, level := outcomeOf(ctx, p, err)
	g.metrics.calls.WithLabelValues(p.info.Name, string(p.call.Surface), outcome).Inc()
	g.metrics.seconds.WithLabelValues(p.info.Name, string(p.call.Surface)).Observe(took.Seconds())
	if !g.Log.Enabled(ctx, level) {
		return
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
	g.Log.LogAttrs(ctx, level, "call", attrs...)
}

// callerGone is the outcome of a call whose caller hung up before the answer.
// Whatever failed then failed because of that.
const callerGone = "caller_gone"

// outcomeOf: faults of ours are errors in the log, those of the sending account
// warnings, refusals and callers who leave ordinary.
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
	case core.CodeInternalError:
		return string(e.Code), slog.LevelError
	case core.CodeUpstreamUnavailable:
		return string(e.Code), slog.LevelWarn
	default:
		return string(e.Code), slog.LevelInfo
	}
}
