package held

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// errBusy is the error of a call that the server refused because it was too busy, and that the
// client may repeat.
var errBusy = errors.New("refused for now")

// latency is the time that a call took from when it was due.
type latency struct {
	due  time.Time
	took time.Duration
}

// results are the latencies of calls that succeeded, and the number and errors of the others.
type results struct {
	mu        sync.Mutex
	latencies []latency
	refused   int // calls that the server refused because it was too busy
	failed    int
	first     error // the first error
}

// add adds the result of a call that was due at a time and has its answer now.
func (r *results) add(due time.Time, err error) {
	took := time.Since(due)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, errBusy):
		r.refused++
		return
	case err != nil:
		r.failed++
		if r.first == nil {
			r.first = err
		}
		return
	}
	r.latencies = append(r.latencies, latency{due, took})
}

// check fails the benchmark if a call failed.
func (r *results) check(b *testing.B, what string) {
	b.Helper()
	if r.failed > 0 || len(r.latencies) == 0 {
		b.Fatalf("%s: %d of %d calls failed, first: %v", what, r.failed, r.failed+len(r.latencies), r.first)
	}
}

// quantile returns the latency below which a share of the calls is, in milliseconds.
func (r *results) quantile(share float64) float64 { return quantile(r.latencies, share) }

// windowQuantile returns the median, over windows of a length, of the quantiles of the calls that were
// due in each. It tells how the server is most of the time, also if the machine stood still once.
func (r *results) windowQuantile(share float64, length time.Duration) float64 {
	windows := map[int64][]latency{}
	for _, l := range r.latencies {
		at := l.due.UnixNano() / int64(length)
		windows[at] = append(windows[at], l)
	}
	var quantiles []float64
	for _, window := range windows {
		quantiles = append(quantiles, quantile(window, share))
	}
	slices.Sort(quantiles)
	return quantiles[len(quantiles)/2]
}

func quantile(latencies []latency, share float64) float64 {
	slices.SortFunc(latencies, func(a, b latency) int { return cmp.Compare(a.took, b.took) })
	at := min(int(float64(len(latencies))*share), len(latencies)-1)
	return float64(latencies[at].took.Microseconds()) / 1000
}

func (r *results) String() string {
	return fmt.Sprintf("%d calls, %d refused, %d failed, p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms", len(r.latencies)+r.refused+r.failed, r.refused, r.failed, r.quantile(.5), r.quantile(.99), r.quantile(.999))
}

// closedLoop repeats calls on a number of connections for a time. Each connection makes the next
// call when it has the answer to the last one. It returns the calls a second.
func closedLoop(ctx context.Context, connections int, lasts time.Duration, next func(context.Context) (*http.Request, error)) (float64, *results) {
	c, r := newClient(connections), &results{}
	defer c.CloseIdleConnections()
	var callers sync.WaitGroup
	started := time.Now()
	for range connections {
		callers.Go(func() {
			for began := time.Now(); began.Sub(started) < lasts; began = time.Now() {
				request, err := next(ctx)
				if err == nil {
					err = do(c, request)
				}
				r.add(began, err)
			}
		})
	}
	callers.Wait()
	return float64(len(r.latencies)) / time.Since(started).Seconds(), r
}

// openLoop makes calls at the times of a schedule: rate calls a second on average, with
// exponentially distributed distances, for a time. The latency of a call counts from its time in
// the schedule, also if all connections are busy then.
func openLoop(ctx context.Context, connections int, rate float64, lasts time.Duration, next func(context.Context) (*http.Request, error)) *results {
	c, r := newClient(connections), &results{}
	defer c.CloseIdleConnections()
	due := make(chan time.Time, int(rate*callTimeout.Seconds())+1)
	var callers sync.WaitGroup
	for range connections {
		callers.Go(func() {
			for at := range due {
				request, err := next(ctx)
				if err == nil {
					err = do(c, request)
				}
				r.add(at, err)
			}
		})
	}
	started := time.Now()
	for at := started; at.Sub(started) < lasts && ctx.Err() == nil; at = at.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second))) {
		if wait := time.Until(at); wait > 0 {
			time.Sleep(wait) //nolint:forbidigo // the schedule
		}
		due <- at
	}
	close(due)
	callers.Wait()
	return r
}
