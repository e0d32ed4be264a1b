package overview

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// sampleEvery is the time between two samples. A sample reads all metrics, so it asks the
	// database for the figures of its queues.
	sampleEvery = 30 * time.Second
	// kept is how many samples are kept: those of an hour, and the one before.
	kept = int(time.Hour/sampleEvery) + 1
)

// surfaces are the values of the label surface, in the order of the page.
var surfaces = []string{"agent", "rest", "dashboard"}

// sample has the figures of one time. Counts are since the start of the process.
type sample struct {
	at time.Time
	// calls has the number of calls by surface.
	calls map[string]float64
	// refused counts calls above a limit, and failed those that failed without a fault of the
	// caller.
	refused, failed float64
	durations       buckets // of calls, in seconds
	cpu             float64 // seconds of processor time
	resident, live  float64 // bytes
}

func sampleOf(r reading) sample {
	s := sample{
		at: r.at, calls: map[string]float64{}, durations: r.histogram("mailhelm_call_seconds"),
		cpu: r.sum("process_cpu_seconds_total", nil), resident: r.sum("process_resident_memory_bytes", nil),
		live: r.sum("go_memstats_heap_alloc_bytes", nil), failed: r.sum("mailhelm_faults_total", nil),
		refused: r.sum("mailhelm_refusals_total", func(labels map[string]string) bool { return labels["cause"] == string(core.CodeRateLimited) }),
	}
	for _, surface := range surfaces {
		s.calls[surface] = r.sum("mailhelm_calls_total", func(labels map[string]string) bool { return labels["surface"] == surface })
	}
	return s
}

// History keeps the figures of a process during the last hour.
type History struct {
	metrics prometheus.Gatherer
	clock   core.Clock

	mu      sync.Mutex
	samples []sample // oldest first
}

// NewHistory returns the history of a process that starts now. It reads no metrics, because all
// counts are zero.
func NewHistory(metrics prometheus.Gatherer, clock core.Clock) *History {
	return &History{metrics: metrics, clock: clock, samples: []sample{{at: clock(), resident: math.NaN(), live: math.NaN()}}}
}

// Follow takes a sample every 30 seconds, until stop is called. stop returns when no sample is
// being taken.
func (h *History) Follow() (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticks := time.NewTicker(sampleEvery)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
				h.take()
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

// take adds a sample and removes one that is too old.
func (h *History) take() {
	s := sampleOf(read(h.metrics, h.clock()))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.samples = append(h.samples, s)
	if len(h.samples) > kept {
		h.samples = slices.Delete(h.samples, 0, len(h.samples)-kept)
	}
}

// until returns the samples of the last hour, and the given reading as the newest one. It
// replaces a sample that was taken just before, because rates over a few seconds say little.
func (h *History) until(now reading) []sample {
	h.mu.Lock()
	samples := slices.Clone(h.samples)
	h.mu.Unlock()
	if last := len(samples) - 1; last > 0 && now.at.Sub(samples[last].at) < sampleEvery/2 {
		samples = samples[:last]
	}
	samples = append(samples, sampleOf(now))
	return samples[max(0, len(samples)-kept):]
}
