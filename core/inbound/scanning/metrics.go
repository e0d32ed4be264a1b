package scanning

import (
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts scans. The labels have only values that this program defines.
type Metrics struct {
	scans   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// NewMetrics registers the metrics of scans. Call it once for each registry.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		scans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mailhelm_scans_total",
			Help: "Scans of received messages by outcome: pass, fail, gray, too_large, unreadable, failed, timeout, busy, paused, caller_gone.",
		}, []string{"scanner", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mailhelm_scan_seconds",
			Help:    "Duration of a scan of a received message, including the wait for other scans.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}, []string{"scanner"}),
	}
	r.MustRegister(m.scans, m.seconds)
	return m
}

// outcomes are all values of the label outcome.
var outcomes = []string{"pass", "fail", "gray", "too_large", "unreadable", "failed", "timeout", "busy", "paused", "caller_gone"}

// show shows the series of a scanner before its first scan. It does nothing if m is nil.
func (m *Metrics) show(scanner string) {
	if m == nil {
		return
	}
	m.seconds.WithLabelValues(scanner)
	for _, outcome := range outcomes {
		m.scans.WithLabelValues(scanner, outcome)
	}
}

// count counts a scan. It does nothing if m is nil.
func (m *Metrics) count(scanner, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.scans.WithLabelValues(scanner, outcome).Inc()
	m.seconds.WithLabelValues(scanner).Observe(took.Seconds())
}

// outcomeOf returns the value of the label outcome for the result of a scan.
func outcomeOf(finding inbound.Finding, err error) string {
	for _, one := range []struct {
		err     error
		outcome string
	}{
		{errGone, "caller_gone"},
		{errUnreadable, "unreadable"},
		{inbound.ErrTooLarge, "too_large"},
		{ErrPaused, "paused"},
		{ErrBusy, "busy"},
		{ErrTimeout, "timeout"},
	} {
		if errors.Is(err, one.err) {
			return one.outcome
		}
	}
	if err != nil {
		return "failed"
	}
	return strings.ToLower(string(finding.Verdict))
}
