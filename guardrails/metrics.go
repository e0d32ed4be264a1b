package guardrails

import (
	"slices"

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
	faults        *prometheus.CounterVec
}

// faultCauses are the causes of refusals that are not the caller's fault.
var faultCauses = []core.Code{core.CodeInternalError, core.CodeTemporarilyUnavailable, core.CodeOverloaded, core.CodeUpstreamUnavailable}

// surfaces are all surfaces.
var surfaces = []core.Surface{core.REST, core.Agent, core.Dashboard}

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
		faults: counter("mailhelm_faults_total",
			"Requests that failed without a fault of the caller, by cause: internal_error, temporarily_unavailable, overloaded, upstream_unavailable. mailhelm_refusals_total also counts them, by operation.",
			"surface", "cause"),
	}
	r.MustRegister(m.calls, m.seconds, m.bytes, m.truncations, m.refusals, m.confirmations, m.replays, m.faults)
	for _, surface := range surfaces {
		for _, info := range core.Codes() {
			m.refusals.WithLabelValues(noOperation, string(surface), string(info.Code))
		}
		for _, cause := range faultCauses {
			m.faults.WithLabelValues(string(surface), string(cause))
		}
	}
	return m
}

// refuse counts a refusal.
func (m *metrics) refuse(operation string, s core.Surface, cause string) {
	m.refusals.WithLabelValues(operation, string(s), cause).Inc()
	if slices.Contains(faultCauses, core.Code(cause)) {
		m.faults.WithLabelValues(string(s), cause).Inc()
	}
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
	c.guard.metrics.refuse(operation, s, cause)
}

// count updates the metrics for one finished call.
func (m *metrics) count(p *passage, outcome string, err error, seconds float64) {
	operation, surface := p.info.Name, string(p.call.Surface)
	m.calls.WithLabelValues(operation, surface, outcome).Inc()
	m.seconds.WithLabelValues(operation, surface).Observe(seconds)
	switch {
	case err != nil && outcome != callerGone:
		m.refuse(operation, p.call.Surface, outcome)
	case err == nil && p.replayed && p.req.IdempotencyKey != "":
		m.replays.WithLabelValues(operation, surface, "explicit").Inc()
	case err == nil && p.replayed:
		m.replays.WithLabelValues(operation, surface, "derived").Inc()
	}
}
