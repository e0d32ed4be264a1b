package ingest

import (
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts events. The labels have only values that this program defines, so requests
// with invented event types cannot add time series.
type metrics struct{ events *prometheus.CounterVec }

// newMetrics creates the counter of events and registers it with r. If r is nil, the
// counter is not exported.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{events: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_ingest_events_total",
		Help: "Events about sent mail that came in, by type (empty where none was read) and outcome: recorded, duplicate, malformed, refused, too_large, failed, notice.",
	}, []string{"type", "outcome"})}
	for _, outcome := range []string{"malformed", "refused", "too_large", "failed", "notice"} {
		m.events.WithLabelValues("", outcome)
	}
	for _, kind := range append(messages.EventTypes(), mailKind) {
		for _, outcome := range []string{"recorded", "duplicate", "failed"} {
			m.events.WithLabelValues(string(kind), outcome)
		}
	}
	if r != nil {
		r.MustRegister(m.events)
	}
	return m
}

// count adds n events with a type and an outcome to the counter.
func (m *metrics) count(kind, outcome string, n int) {
	if n > 0 {
		m.events.WithLabelValues(kind, outcome).Add(float64(n))
	}
}
