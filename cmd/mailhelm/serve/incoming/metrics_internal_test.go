package incoming

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/prometheus/client_golang/prometheus"
)

// gather returns the values of counters and gauges, and the number of observations of histograms,
// by the name with the values of the labels.
func gather(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// TestProcessedMessages checks that only a processed message has a delay.
func TestProcessedMessages(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	observe, count := observeProcessed(r), countAccepted(r)
	observe(processing.Processed, 10*time.Millisecond, time.Second)
	observe(processing.Failed, time.Second, time.Minute)
	count(spool.StoreFailed)
	got := gather(t, r)
	want := map[string]float64{
		"mailhelm_received_processing_seconds processed": 1, "mailhelm_received_processing_seconds failed": 1, "mailhelm_received_processing_seconds lost": 0,
		"mailhelm_received_delay_seconds": 1, "mailhelm_received_messages_total store_failed": 1, "mailhelm_received_messages_total accepted": 0,
	}
	for name, n := range want {
		if value, found := got[name]; !found || value != n {
			t.Errorf("%s is %v (%t), want %v", name, value, found, n)
		}
	}
}
