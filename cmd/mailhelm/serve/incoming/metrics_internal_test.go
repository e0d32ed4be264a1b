package incoming

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/prometheus/client_golang/prometheus"
)

// waiting is a queue with a backlog.
type waiting struct {
	inbound.Queue
	n      int
	oldest time.Time
	err    error
}

func (w *waiting) Backlog(context.Context) (int, time.Time, error) { return w.n, w.oldest, w.err }

// TestBacklog scrapes an empty queue, a queue with messages, and one whose database is gone.
func TestBacklog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := &waiting{}
	r := prometheus.NewRegistry()
	r.MustRegister(newBacklog(q, func() time.Time { return now }, slog.New(slog.DiscardHandler)))
	expect := func(want map[string]float64) {
		t.Helper()
		if got := gather(t, r); !maps.Equal(got, want) {
			t.Errorf("metrics %v, want %v", got, want)
		}
	}
	const number, oldest = "mailhelm_received_backlog", "mailhelm_received_oldest_seconds"
	expect(map[string]float64{number: 0, oldest: 0})
	q.n, q.oldest = 3, now.Add(-90*time.Second)
	expect(map[string]float64{number: 3, oldest: 90})
	q.oldest = now.Add(time.Second) // the clock of another process is ahead
	expect(map[string]float64{number: 3, oldest: 0})
	q.err = errors.New("no database")
	expect(map[string]float64{})
}

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
