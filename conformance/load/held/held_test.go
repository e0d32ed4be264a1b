package held

import (
	"flag"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

var held = flag.Duration("held", 20*time.Second, "how long BenchmarkLoadHeld holds the load")

const (
	// share is the load that is held, as a share of the capacity.
	share = 0.7
	// capacityTime is how long the capacity is measured, with capacityConnections connections.
	capacityTime        = 10 * time.Second
	capacityConnections = 16
	// openConnections is the most connections of the load that is held.
	openConnections = 256
	// window is the length of the windows whose quantiles are compared.
	window = 10 * time.Second
	// rest is how long the server rests between two loads.
	rest = 2 * time.Second
)

// The most that memory may grow in the second half of the time: a share of its mean, and at least
// an amount, because samples depend on when the garbage collector ran.
const (
	memoryShare, memoryMB   = 0.15, 16 // of live objects
	garbageShare, garbageMB = 0.5, 128 // of memory with garbage, which a burst of calls leaves
)

// moreGoroutines is how many goroutines the server may have more after the load than before it,
// when all connections are closed again. While it lasts, their number depends on that of
// connections.
const moreGoroutines = 30

// BenchmarkLoadHeld holds 70 % of the measured capacity for the time of the flag -held. Calls that
// the server refuses because it is too busy are only counted: other programs may need the machine.
func BenchmarkLoadHeld(b *testing.B) {
	binary := program.Build(b)
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			s := start(b, binary, database)
			o := s.create(b, "held", 0)
			for b.Loop() {
				hold(b, s, o)
			}
		})
	}
}

func hold(b *testing.B, s *server, o *org) {
	b.Helper()
	_, warm := closedLoop(b.Context(), capacityConnections, capacityTime/2, o.work)
	warm.check(b, "warm-up")
	capacity, full := closedLoop(b.Context(), capacityConnections, capacityTime, o.work)
	full.check(b, "capacity")
	b.Logf("capacity %.0f calls/s: %v", capacity, full)

	before, stop := s.atRest(b), s.watch(b, min(5*time.Second, *held/40))
	r := openLoop(b.Context(), openConnections, share*capacity, *held, o.work)
	samples := stop()
	after := s.atRest(b)
	b.Logf("%.0f calls/s for %v: %v; processor %.2f ms a call", share*capacity, *held, r, float64((after.processor-before.processor).Microseconds())/1000/float64(len(r.latencies)))
	b.ReportMetric(capacity, "capacity/s")
	b.ReportMetric(share*capacity, "held/s")
	b.ReportMetric(r.quantile(.5), "p50-ms")
	b.ReportMetric(r.quantile(.99), "p99-ms")
	b.ReportMetric(r.quantile(.999), "p99.9-ms")
	b.ReportMetric(r.windowQuantile(.99, window), "p99-of-median-window-ms")
	mean, most := stolen(samples)
	b.ReportMetric(mean, "stolen-percent")
	b.ReportMetric(most, "stolen-percent-most")
	b.ReportMetric(float64(r.failed), "errors")
	b.ReportMetric(1e6*float64(r.refused)/float64(len(r.latencies)), "refused-per-million")

	half := samples[len(samples)/2:]
	report := func(name string, value func(sample) float64, share, least float64) {
		grown, mean := growth(half, value)
		_, first := growth(samples[:len(samples)/2], value)
		b.Logf("%s: mean %.1f in the first half, %.1f in the second half, which grew by %.1f", name, first, mean, grown)
		b.ReportMetric(mean, name)
		b.ReportMetric(grown, name+"-growth")
		if most := max(share*mean, least); grown > most {
			b.Errorf("%s grew by %.1f in the second half of %v, allowed is %.1f", name, grown, *held, most)
		}
	}
	report("resident-MB", func(s sample) float64 { return s.resident }, garbageShare, garbageMB)
	report("heap-MB", func(s sample) float64 { return s.heap }, garbageShare, garbageMB)
	report("live-MB", func(s sample) float64 { return s.live }, memoryShare, memoryMB)
	grown, mean := growth(half, func(s sample) float64 { return s.goroutines })
	b.Logf("goroutines: %.0f before, mean %.0f in the second half, which grew by %.0f, and %.0f after", before.goroutines, mean, grown, after.goroutines)
	b.ReportMetric(after.goroutines-before.goroutines, "goroutines-left")
	if after.goroutines > before.goroutines+moreGoroutines {
		b.Errorf("%.0f goroutines before the load and %.0f after it", before.goroutines, after.goroutines)
	}
	r.check(b, "held")
}

// atRest returns a sample of the server when the connections of the last load are closed.
func (s *server) atRest(b *testing.B) sample {
	b.Helper()
	time.Sleep(rest) //nolint:forbidigo // a process of its own
	return s.mustSample(b)
}
