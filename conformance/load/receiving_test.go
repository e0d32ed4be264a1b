package load

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

const (
	// receivedInboxes is the number of inboxes that the messages are spread over.
	receivedInboxes = 16
	// receiveTurn is how long each server receives in each round.
	receiveTurn = 5 * time.Second
	// processWait is the time limit for the processing of what a server accepted.
	processWait = 5 * time.Minute
)

var receivingRounds = flag.Int("load.receivings", 5, "how often each server receives in the benchmark of receiving")

// mailServer is a server that receives mail. visible returns how many messages its API shows.
type mailServer struct {
	name, smtp string
	recipients []string
	visible    func(b *testing.B) int
	pid        int
	before     int // how many were visible before the turn
}

// BenchmarkReceiving sends messages of 11 KB over 16 connections to `mailhelm serve` on SQLite
// and on PostgreSQL. Each message is judged by SPF, DKIM and DMARC with a name server on the
// loopback interface, parsed, and stored with its attachment; every step waits for the disk. A
// message counts when the API shows it. If the environment variable named by mailpitVariable is
// set, Mailpit receives the same messages in turn.
func BenchmarkReceiving(b *testing.B) {
	binary, p := program.Build(b), newMailLoad(b)
	var servers []*mailServer
	if peer := os.Getenv(mailpitVariable); peer != "" {
		m := startMailpit(b, peer)
		servers = append(servers, &mailServer{name: "mailpit", smtp: m.smtp, recipients: []string{"load@example.org"}, visible: m.visible, pid: m.pid})
	} else {
		b.Log("mailhelm alone: " + mailpitVariable + " names no Mailpit to compare it with")
	}
	for _, database := range []string{"sqlite", "postgres"} {
		r := startReceiver(b, binary, database, p.dns, receivedInboxes)
		servers = append(servers, &mailServer{name: database, smtp: r.smtp, recipients: r.recipients(), visible: r.visible, pid: r.pid})
	}
	for _, s := range servers {
		s.turn(b, p, time.Second) // opens pools and files
	}
	b.ResetTimer()
	for range b.N {
		rates, accepted, processor := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
		for range *receivingRounds {
			for _, s := range servers {
				t := s.turn(b, p, receiveTurn)
				rates[s.name], accepted[s.name] = append(rates[s.name], t.visible), append(accepted[s.name], t.accepted)
				processor[s.name] = append(processor[s.name], t.processor)
			}
		}
		for _, s := range servers {
			b.ReportMetric(median(rates[s.name]), s.name+"/s")
			b.ReportMetric(median(accepted[s.name]), s.name+"-accepted/s")
			b.ReportMetric(median(processor[s.name]), s.name+"-cpu-µs")
			if theirs := rates["mailpit"]; theirs != nil && s.name != "mailpit" {
				b.ReportMetric(median(ratios(rates[s.name], theirs)), s.name+"-x-mailpit")
			}
		}
	}
}

// turnResult is what a server did in a turn: the rate of messages that are visible, that of those
// that were accepted, and the processor time of its process for a message in microseconds.
type turnResult struct{ visible, accepted, processor float64 }

// turn sends messages for a time and waits until the server shows them all.
func (s *mailServer) turn(b *testing.B, p *mailLoad, d time.Duration) turnResult {
	b.Helper()
	used, began := processorTime(b, s.pid), time.Now()
	n := p.sendFor(b, s.smtp, s.recipients, d)
	sent := time.Since(began)
	awaitTrue(b, processWait, "all messages are visible", func() bool { return s.visible(b) == s.before+n })
	took := time.Since(began)
	s.before += n
	t := turnResult{float64(n) / took.Seconds(), float64(n) / sent.Seconds(), float64((processorTime(b, s.pid) - used).Microseconds()) / float64(n)}
	b.Logf("%s: %d messages, %.0f accepted/s, %.0f visible/s, %.0f µs of processor time each", s.name, n, t.accepted, t.visible, t.processor)
	return t
}

// processorTime returns the processor time that a process has used, from Linux's /proc. On other
// systems it returns 0.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(b, err)
	// The fields after the name of the program, which is in parentheses: utime is the 12th and
	// stime the 13th, in hundredths of a second.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var sum time.Duration
	for _, field := range fields[11:13] {
		ticks, err := strconv.Atoi(field)
		must(b, err)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}
