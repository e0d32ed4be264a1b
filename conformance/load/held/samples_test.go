package held

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sample is the state of the server at a time.
type sample struct {
	at time.Time
	// resident and heap are in MB: the memory of the process, and the part of its heap in use,
	// which includes garbage. live is what the last collection found in use.
	resident, heap, live float64
	goroutines           float64
	processor            time.Duration // since the start
	machine              machineTime
}

// admin is the client that reads metrics and prepares the data.
var admin = newClient(2)

// sample reads the metrics of the server.
func (s *server) sample() (sample, error) {
	answer, err := admin.Get(s.admin + "/metrics") //nolint:noctx // on the loopback
	if err != nil {
		return sample{}, err
	}
	defer answer.Body.Close()
	values := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if name, text, ok := strings.Cut(lines.Text(), " "); ok {
			if value, err := strconv.ParseFloat(text, 64); err == nil {
				values[name] = value
			}
		}
	}
	const megabyte = 1 << 20
	for _, name := range []string{"process_resident_memory_bytes", "go_memstats_heap_inuse_bytes", "go_memstats_next_gc_bytes", "go_gc_gogc_percent", "go_goroutines", "process_cpu_seconds_total"} {
		if _, ok := values[name]; !ok {
			return sample{}, fmt.Errorf("/metrics has no %s", name)
		}
	}
	return sample{
		at: time.Now(), resident: values["process_resident_memory_bytes"] / megabyte, heap: values["go_memstats_heap_inuse_bytes"] / megabyte,
		live:       values["go_memstats_next_gc_bytes"] / (1 + values["go_gc_gogc_percent"]/100) / megabyte,
		goroutines: values["go_goroutines"], processor: time.Duration(values["process_cpu_seconds_total"] * float64(time.Second)),
		machine: readMachineTime(),
	}, lines.Err()
}

// mustSample returns a sample.
func (s *server) mustSample(b *testing.B) sample {
	b.Helper()
	now, err := s.sample()
	must(b, err)
	return now
}

// watch samples the server at an interval. The returned function ends that and returns the samples.
func (s *server) watch(b *testing.B, every time.Duration) func() []sample {
	b.Helper()
	var samples []sample
	stop := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			now, err := s.sample()
			if err != nil {
				b.Errorf("sample: %v", err)
				return
			}
			samples = append(samples, now)
			select {
			case <-again.C:
			case <-stop:
				return
			}
		}
	})
	return func() []sample {
		close(stop)
		sampling.Wait()
		return samples
	}
}

// growth returns by how much a value grows in the time of the samples, by the line with the least
// squares, and the mean of the value.
func growth(samples []sample, value func(sample) float64) (grown, mean float64) {
	var meanX float64
	x := func(s sample) float64 { return s.at.Sub(samples[0].at).Seconds() }
	for _, s := range samples {
		meanX += x(s) / float64(len(samples))
		mean += value(s) / float64(len(samples))
	}
	var products, squares float64
	for _, s := range samples {
		products += (x(s) - meanX) * (value(s) - mean)
		squares += (x(s) - meanX) * (x(s) - meanX)
	}
	if squares == 0 {
		return 0, mean
	}
	return products / squares * x(samples[len(samples)-1]), mean
}
