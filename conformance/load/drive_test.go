package load

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// target is one kind of call that a benchmark measures. name appears in the results.
// request returns a new request for each call.
type target struct {
	name    string
	request func() (*http.Request, error)
}

// client returns an HTTP client that keeps one idle connection for each worker, a goroutine
// that makes calls.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}, Timeout: 10 * time.Second}
}

const (
	workers = 8
	rounds  = 5
	turn    = time.Second
)

// turns has the measurements of one kind of call. In each turn all workers repeat the call
// for one second.
type turns struct {
	rates     []float64 // calls per second, one value for each turn
	latencies []time.Duration
	allocated [2]uint64     // allocated objects and bytes, summed over all turns
	processor time.Duration // processor time of the process, summed over all turns
}

// compare measures several kinds of calls. It repeats each for one second in turn, for five
// rounds. It reports calls per second (median), the p50 and p99 of the latency, and
// allocations and processor time per call, including the client's. It also reports the ratio of
// the first target's calls per second to those of each other target, and that of what they
// could be by processor time. The second ratio depends less on other work of the machine. One
// iteration is a whole comparison, so run it with -benchtime=1x.
func compare(b *testing.B, targets ...target) {
	b.Helper()
	c := client()
	defer c.CloseIdleConnections()
	for _, t := range targets { // warm caches, pools and connections
		drive(b, c, t, turn/2)
	}
	b.ResetTimer()
	for range b.N {
		of := make([]turns, len(targets))
		for range rounds {
			for i, t := range targets {
				of[i].add(b, c, t)
			}
		}
		for i, t := range targets {
			of[i].report(b, t.name)
			if i > 0 {
				b.ReportMetric(median(ratios(of[0].rates, of[i].rates)), "x-"+t.name)
				b.ReportMetric(of[i].perCall()/of[0].perCall(), "x-"+t.name+"-by-cpu")
			}
		}
	}
}

// add repeats the call for one second from all workers, and adds the measurements to the
// turns ts.
func (ts *turns) add(b *testing.B, c *http.Client, t target) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := processorTime(b, os.Getpid())
	rate, latencies := drive(b, c, t, turn)
	ts.processor += processorTime(b, os.Getpid()) - used
	runtime.ReadMemStats(&after)
	ts.rates = append(ts.rates, rate)
	ts.latencies = append(ts.latencies, latencies...)
	ts.allocated[0] += after.Mallocs - before.Mallocs
	ts.allocated[1] += after.TotalAlloc - before.TotalAlloc
}

// perCall returns the processor time of a call in microseconds.
func (ts *turns) perCall() float64 {
	return float64(ts.processor.Microseconds()) / float64(len(ts.latencies))
}

func (ts *turns) report(b *testing.B, name string) {
	b.Helper()
	slices.Sort(ts.latencies)
	calls := len(ts.latencies)
	b.ReportMetric(median(ts.rates), name+"/s")
	b.ReportMetric(float64(ts.latencies[calls/2].Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(ts.latencies[calls*99/100].Microseconds()), name+"-p99-µs")
	b.ReportMetric(float64(ts.allocated[0])/float64(calls), name+"-allocs")
	b.ReportMetric(float64(ts.allocated[1])/float64(calls)/1024, name+"-KB")
	b.ReportMetric(ts.perCall(), name+"-cpu-µs")
}

// drive repeats a call from all workers (goroutines) for the duration d. It returns the
// calls per second and the latency of each call. If a call is refused or fails, the
// benchmark fails, because quick refusals would increase the calls per second.
func drive(b *testing.B, c *http.Client, t target, d time.Duration) (float64, []time.Duration) {
	b.Helper()
	var wait sync.WaitGroup
	latencies := make([][]time.Duration, workers)
	failures := make([]error, workers)
	started := time.Now()
	for w := range workers {
		wait.Go(func() {
			for began := time.Now(); began.Sub(started) < d; began = time.Now() {
				if failures[w] = call(c, t); failures[w] != nil {
					return
				}
				latencies[w] = append(latencies[w], time.Since(began))
			}
		})
	}
	wait.Wait()
	took := time.Since(started)
	for _, failure := range failures {
		if failure != nil {
			b.Fatalf("%s: %v", t.name, failure)
		}
	}
	all := slices.Concat(latencies...)
	return float64(len(all)) / took.Seconds(), all
}

func call(c *http.Client, t target) error {
	req, err := t.request()
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var start [512]byte
	n, _ := io.ReadFull(res.Body, start[:])
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices || bytes.Contains(start[:n], []byte(`"isError":true`)) || bytes.Contains(start[:n], []byte(`"error":{`)) {
		return fmt.Errorf("status %d: %s", res.StatusCode, start[:n])
	}
	return nil
}

func ratios(ours, theirs []float64) []float64 {
	r := make([]float64, len(ours))
	for i := range ours {
		r[i] = ours[i] / theirs[i]
	}
	return r
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
