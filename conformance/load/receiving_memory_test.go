package load

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

var receivedMessages = flag.Int("load.received", 100_000, "how many messages the benchmark of the memory of receiving sends")

// BenchmarkReceivingMemory sends 100,000 messages of 11 KB over 16 connections to `mailhelm serve`,
// and samples the memory of its process each second. It reports the rate, the most resident memory
// and the most memory of live objects in each quarter of the messages. If the environment variable
// named by mailpitVariable is set, Mailpit receives as many messages before.
func BenchmarkReceivingMemory(b *testing.B) {
	binary, p := program.Build(b), newMailLoad(b)
	if peer := os.Getenv(mailpitVariable); peer != "" {
		b.Run("mailpit", func(b *testing.B) {
			for range b.N {
				m := startMailpit(b, peer)
				s := &mailServer{name: "mailpit", smtp: m.smtp, recipients: []string{"load@example.org"}, visible: m.visible, pid: m.pid}
				s.quarters(b, p, nil)
			}
		})
	}
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			for range b.N {
				r := startReceiver(b, binary, database, p.dns, max(receivedInboxes, *receivedMessages/5000))
				s := &mailServer{name: database, smtp: r.smtp, recipients: r.recipients(), visible: r.visible, pid: r.pid}
				// The live objects are half of the heap at which the next collection begins, if GOGC is 100.
				s.quarters(b, p, func() float64 { return r.metric(b, "go_memstats_next_gc_bytes") / 2 / (1 << 20) })
			}
		})
	}
}

// quarters sends receivedMessages messages in four parts. live returns the MB of live objects; it
// may be nil.
func (s *mailServer) quarters(b *testing.B, p *mailLoad, live func() float64) {
	b.Helper()
	began, n := time.Now(), *receivedMessages/4
	for quarter := range 4 {
		stop, partBegan := sampleMemory(b, s.pid, live), time.Now()
		p.sendMessages(b, s.smtp, s.recipients, n)
		awaitTrue(b, processWait, "all messages are visible", func() bool { return s.visible(b) == (quarter+1)*n })
		rate := float64(n) / time.Since(partBegan).Seconds()
		most, mostLive := stop()
		b.Logf("%s: %d messages, the last %d at %.0f/s: at most %.0f MB resident, %.1f MB live", s.name, (quarter+1)*n, n, rate, most, mostLive)
		name := string(rune('1' + quarter))
		b.ReportMetric(rate, "messages/s-"+name)
		b.ReportMetric(most, "MB-"+name)
		if live != nil {
			b.ReportMetric(mostLive, "live-MB-"+name)
		}
	}
	b.ReportMetric(float64(4*n)/time.Since(began).Seconds(), "messages/s")
}

// sampleMemory begins to sample the memory of a process. The returned function ends that, and
// returns the most resident MB and the most that live has returned.
func sampleMemory(b *testing.B, pid int, live func() float64) func() (rss, mostLive float64) {
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
			most[0] = max(most[0], resident(b, pid))
			if live != nil {
				most[1] = max(most[1], live())
			}
		}
		result <- most
	}()
	return func() (float64, float64) {
		close(stop)
		most := <-result
		return most[0], most[1]
	}
}
