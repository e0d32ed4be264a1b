package load

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// target is one side of a comparison.
type target struct {
	name    string
	request func() (*http.Request, error)
}

// client keeps as many connections as there are workers.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}, Timeout: 10 * time.Second}
}

const (
	workers = 8
	rounds  = 5
	turn    = time.Second
)

// compare drives the targets in turns, several rounds of a second each, and
// reports each one's median calls a second and the first one's ratio to every
// other. One benchmark iteration is one whole comparison, so run it with
// -benchtime=1x.
func compare(b *testing.B, targets ...target) {
	b.Helper()
	c := client()
	defer c.CloseIdleConnections()
	for _, t := range targets { // warm caches, pools and connections
		drive(b, c, t, turn/2)
	}
	b.ResetTimer()
	for range b.N {
		rates := make([][]float64, len(targets))
		for range rounds {
			for i, t := range targets {
				rates[i] = append(rates[i], drive(b, c, t, turn))
			}
		}
		for i, t := range targets {
			b.ReportMetric(median(rates[i]), t.name+"/s")
			if i > 0 {
				b.ReportMetric(median(ratios(rates[0], rates[i])), "x-"+t.name)
			}
		}
	}
}

// drive calls a target from all workers for a while and returns calls a second.
// Any answer but 200 fails the benchmark: a fast refusal is no throughput.
func drive(b *testing.B, c *http.Client, t target, d time.Duration) float64 {
	b.Helper()
	var wait sync.WaitGroup
	counts := make([]int, workers)
	failures := make([]error, workers)
	started := time.Now()
	for w := range workers {
		wait.Go(func() {
			for time.Since(started) < d {
				if failures[w] = call(c, t); failures[w] != nil {
					return
				}
				counts[w]++
			}
		})
	}
	wait.Wait()
	took := time.Since(started)
	total := 0
	for w := range workers {
		if failures[w] != nil {
			b.Fatalf("%s: %v", t.name, failures[w])
		}
		total += counts[w]
	}
	return float64(total) / took.Seconds()
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
	if res.StatusCode != http.StatusOK || bytes.Contains(start[:n], []byte(`"isError":true`)) {
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
