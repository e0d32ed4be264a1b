package load

import (
	"flag"
	"testing"
	"time"
)

var receivedMessages = flag.Int("load.received", 100_000, "how many messages the benchmark of the memory of receiving sends")

// BenchmarkReceivingMemory sends 100,000 messages of 11 KB over 16 connections to `mailhelm serve`,
// and samples the memory of its process each second. It reports the most resident memory and the
// most memory of live objects in each quarter of the messages.
func BenchmarkReceivingMemory(b *testing.B) {
	binary, p := buildMailhelm(b), newMailLoad(b)
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			for range b.N {
				r := startReceiver(b, binary, database, p.dns, max(receivedInboxes, *receivedMessages/5000))
				began := time.Now()
				for quarter := range 4 {
					stop := r.sampleMemory(b)
					p.sendMessages(b, r.smtp, r.recipients(), *receivedMessages/4)
					sent := (quarter + 1) * (*receivedMessages / 4)
					awaitTrue(b, processWait, "all messages are visible", func() bool { return r.visible(b) == sent })
					rss, live := stop()
					b.Logf("%d messages after %v: at most %.0f MB resident, %.1f MB live", sent, time.Since(began).Round(time.Second), rss, live)
					name := string(rune('1' + quarter))
					b.ReportMetric(rss, "MB-"+name)
					b.ReportMetric(live, "live-MB-"+name)
				}
				b.ReportMetric(float64(*receivedMessages)/time.Since(began).Seconds(), "messages/s")
			}
		})
	}
}

// sampleMemory begins to sample the memory of the server. The returned function ends that, and
// returns the most resident MB and the most MB of live objects. These are half of the heap at which
// the next collection begins, as long as GOGC is 100.
func (r *receiver) sampleMemory(b *testing.B) func() (rss, live float64) {
	b.Helper()
	stop, result := make(chan struct{}), make(chan [2]float64)
	go func() {
		var most [2]float64
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for sampling := true; sampling; {
			select {
			case <-ticker.C:
			case <-stop:
				sampling = false
			}
			most[0] = max(most[0], resident(b, r.pid))
			most[1] = max(most[1], r.metric(b, "go_memstats_next_gc_bytes")/2/(1<<20))
		}
		result <- most
	}()
	return func() (float64, float64) {
		close(stop)
		most := <-result
		return most[0], most[1]
	}
}
