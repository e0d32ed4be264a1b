package ingest

import "github.com/prometheus/client_golang/prometheus"

// metrics count events. Both labels have few values, which this program chooses.
type metrics struct{ events *prometheus.CounterVec }

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{events: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_ingest_events_total",
		Help: "Events about sent mail that came in, by type (empty where none was read) and outcome: recorded, duplicate, malformed, refused, too_large, failed, notice.",
	}, []string{"type", "outcome"})}
	if r != nil {
		r.MustRegister(m.events)
	}
	return m
}

func (m *metrics) count(kind, outcome string, n int) {
	if n > 0 {
		m.events.WithLabelValues(kind, outcome).Add(float64(n))
	}
}
