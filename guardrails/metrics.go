package guardrails

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics has the Prometheus metrics of calls. Every label has few values, and callers
// cannot choose them.
type metrics struct {
	calls         *prometheus.CounterVec
	seconds       *prometheus.HistogramVec
	bytes         *prometheus.HistogramVec
	truncations   *prometheus.CounterVec
	refusals      *prometheus.CounterVec
	confirmations *prometheus.CounterVec
	replays       *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		calls: counter("mailhelm_calls_total",
			"Operation calls by outcome: ok, replayed, confirmation_required, caller_gone, or an error code.",
			"operation", "surface", "outcome"),
		seconds: histogram("mailhelm_call_seconds",
			"Duration of a call, from its first check to its result.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}),
		bytes: histogram("mailhelm_result_bytes",
			"Size of answers that carry a result, as sent.",
			[]float64{256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20}),
		truncations: counter("mailhelm_truncations_total",
			"Results that left some of their items out.",
			"operation", "surface"),
		refusals: counter("mailhelm_refusals_total",
			"Requests that were refused or failed, by cause; operation is empty for those that named none.",
			"operation", "surface", "cause"),
		confirmations: counter("mailhelm_confirmations_total",
			"Confirmations by outcome: issued, accepted, refused, declined.",
			"operation", "outcome"),
		replays: counter("mailhelm_replays_total",
			"Calls answered with the result of an earlier, equal call, by the kind of key: explicit or derived.",
			"operation", "surface", "key"),
	}
	r.MustRegister(m.calls, m.seconds, m.bytes, m.truncations, m.refusals, m.confirmations, m.replays)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"operation", "surface"})
}

// Truncated is implemented by results, or parts of results, that can leave items out.
// WasTruncated reports whether items were left out.
type Truncated interface{ WasTruncated() bool }

// CountAnswer counts a response that contains the operation's result. bytes is its size as
// sent; truncated is true if items were left out.
func (o *Operation) CountAnswer(s core.Surface, bytes int, truncated bool) {
	m := o.guard.metrics
	m.bytes.WithLabelValues(o.info.Name, string(s)).Observe(float64(bytes))
	if truncated {
		m.truncations.WithLabelValues(o.info.Name, string(s)).Inc()
	}
}

// CountDecline counts a call that a person declined after seeing its preview.
func (o *Operation) CountDecline() {
	o.guard.metrics.confirmations.WithLabelValues(o.info.Name, "declined").Inc()
}

// noOperation is the value of the label operation for requests that name no operation or an
// unknown one.
const noOperation = ""

// CountRefusal counts a request that REST or MCP refused without a call of Operation.Call.
// Operation.Call counts its own refusals. cause is an error code or another word of a short
// list. An unknown operation is counted as "".
func (c *Catalogue) CountRefusal(s core.Surface, operation, cause string) {
	if _, known := c.byName[operation]; !known {
		operation = noOperation
	}
	c.guard.metrics.refusals.WithLabelValues(operation, string(s), cause).Inc()
}

// count updates the metrics for one finished call.
func (m *metrics) count(p *passage, outcome string, err error, seconds float64) {
	operation, surface := p.info.Name, string(p.call.Surface)
	m.calls.WithLabelValues(operation, surface, outcome).Inc()
	m.seconds.WithLabelValues(operation, surface).Observe(seconds)
	switch {
	case err != nil && outcome != callerGone:
		m.refusals.WithLabelValues(operation, surface, outcome).Inc()
	case err == nil && p.replayed && p.req.IdempotencyKey != "":
		m.replays.WithLabelValues(operation, surface, "explicit").Inc()
	case err == nil && p.replayed:
		m.replays.WithLabelValues(operation, surface, "derived").Inc()
	}
}
