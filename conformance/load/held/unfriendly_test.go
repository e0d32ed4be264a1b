package held

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

const (
	// politeRate is the number of calls a second of the caller whose latencies are compared, and
	// politeTime how long it makes them in each phase of a round.
	politeRate, politeTime    = 100, 5 * time.Second
	politeConnections, rounds = 64, 6
	slowClients               = 500
	idleConnections           = 10_000
	// limitPerMinute is the limit of the organization that makes 100 times as many calls.
	limitPerMinute, times = 600, 100
)

// BenchmarkUnfriendlyClients measures the latencies of a caller without and with unfriendly clients.
func BenchmarkUnfriendlyClients(b *testing.B) {
	binary := program.Build(b)
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			s := start(b, binary, database)
			polite, slow, greedy := s.create(b, "polite", 0), s.create(b, "slow", 0), s.create(b, "greedy", limitPerMinute)
			_, warm := closedLoop(b.Context(), capacityConnections, capacityTime/2, polite.work)
			warm.check(b, "warm-up")
			for _, kind := range []struct {
				name  string
				begin func(*testing.B) (end func())
			}{
				{"slow", func(b *testing.B) func() { return s.slowClients(b, slow) }},
				{"idle", s.idleConnections},
				{"limited", func(b *testing.B) func() { return s.overLimit(b, greedy) }},
			} {
				b.Run(kind.name, func(b *testing.B) {
					for b.Loop() {
						beside(b, s, polite, kind.begin)
					}
				})
			}
			b.Run("refused", func(b *testing.B) {
				for b.Loop() {
					s.costOfRefusals(b, polite, greedy)
				}
			})
		})
	}
}

// beside measures the polite caller in turn without and with the unfriendly clients that begin
// starts. It compares the p99 of all phases with and of all phases without them, and reports the
// server's processor time.
func beside(b *testing.B, s *server, polite *org, begin func(*testing.B) func()) {
	b.Helper()
	names := [2]string{"without", "with"}
	var all [2]results
	var processor [2]time.Duration
	for range rounds {
		for i, name := range names {
			end := func() {}
			if i == 1 {
				end = begin(b)
			}
			before := s.mustSample(b)
			phase := openLoop(b.Context(), politeConnections, politeRate, politeTime, polite.work)
			processor[i] += s.mustSample(b).processor - before.processor
			end()
			phase.check(b, name)
			b.Logf("%s: %v", name, phase)
			all[i].latencies = append(all[i].latencies, phase.latencies...)
			all[i].refused += phase.refused
		}
	}
	for i, name := range names {
		b.ReportMetric(all[i].quantile(.5), "p50-"+name+"-ms")
		b.ReportMetric(all[i].quantile(.99), "p99-"+name+"-ms")
		b.ReportMetric(100*processor[i].Seconds()/(rounds*politeTime.Seconds()), "processor-"+name+"-%")
		b.ReportMetric(float64(all[i].refused), "refused-"+name)
	}
	b.ReportMetric(all[1].quantile(.99)/all[0].quantile(.99), "ratio")
}

// overLimit lets an organization make 100 times as many calls as its limit allows. The returned
// function ends that, and reports the rate and the refused calls.
func (s *server) overLimit(b *testing.B, o *org) func() {
	b.Helper()
	const rate = limitPerMinute * times / 60
	ctx, cancel := context.WithCancel(b.Context())
	c := newClient(capacityConnections)
	var made, refused atomic.Int64
	began := time.Now()
	var callers sync.WaitGroup
	for range capacityConnections {
		callers.Go(func() {
			every := time.NewTicker(capacityConnections * time.Second / rate)
			defer every.Stop()
			for ctx.Err() == nil {
				if status := o.status(ctx, c); status != 0 {
					made.Add(1)
					if status == http.StatusTooManyRequests {
						refused.Add(1)
					}
				}
				<-every.C
			}
		})
	}
	return func() {
		cancel()
		callers.Wait()
		c.CloseIdleConnections()
		calls := float64(made.Load())
		b.ReportMetric(calls/time.Since(began).Seconds(), "greedy/s")
		b.ReportMetric(100*float64(refused.Load())/calls, "refused-%")
	}
}

// status makes a call and returns the status of the answer, or 0 if there was none.
func (o *org) status(ctx context.Context, c *http.Client) int {
	request, err := o.work(ctx)
	if err != nil {
		return 0
	}
	answer, err := c.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

// costOfRefusals reports the server's processor time for an accepted call, and for one that is
// refused because the limit is used up. All are lookups by REST.
func (s *server) costOfRefusals(b *testing.B, polite, greedy *org) {
	b.Helper()
	cost := func(o *org, want int) float64 {
		var calls atomic.Int64
		var other atomic.Int64
		c := newClient(capacityConnections)
		defer c.CloseIdleConnections()
		before := s.mustSample(b)
		until := time.Now().Add(politeTime / 2)
		var callers sync.WaitGroup
		for range capacityConnections {
			callers.Go(func() {
				for time.Now().Before(until) {
					answer, err := c.Do(o.request(b.Context(), http.MethodGet, "/v1/contacts/"+address(1), ""))
					if err != nil {
						other.Add(1)
						continue
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					if calls.Add(1); answer.StatusCode != want {
						other.Add(1)
					}
				}
			})
		}
		callers.Wait()
		if other.Load() > calls.Load()/10 {
			b.Fatalf("%d of %d calls were not answered with %d", other.Load(), calls.Load(), want)
		}
		return float64((s.mustSample(b).processor - before.processor).Microseconds()) / float64(calls.Load())
	}
	for range limitPerMinute { // use the limit up
		if greedy.status(b.Context(), admin) == http.StatusTooManyRequests {
			break
		}
	}
	accepted, refused := cost(polite, http.StatusOK), cost(greedy, http.StatusTooManyRequests)
	b.ReportMetric(accepted, "accepted-cpu-µs")
	b.ReportMetric(refused, "refused-cpu-µs")
	b.Logf("processor time: %s for an accepted lookup, %s for a refused one", fmt.Sprintf("%.0f µs", accepted), fmt.Sprintf("%.0f µs", refused))
}
