package load

import (
	"runtime/metrics"
	"time"
)

// sampleEvery is the interval at which memory is read.
const sampleEvery = 50 * time.Millisecond

// watchMemory begins to read the memory of the heap in use. The returned function ends that,
// and returns the most MB in the first and in the second half of the time.
func watchMemory() func() [2]float64 {
	var samples []float64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		again := time.NewTicker(sampleEvery)
		defer again.Stop()
		for {
			sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			metrics.Read(sample)
			samples = append(samples, float64(sample[0].Value.Uint64())/(1<<20))
			select {
			case <-again.C:
			case <-stop:
				return
			}
		}
	}()
	return func() [2]float64 {
		close(stop)
		<-stopped
		var most [2]float64
		for i, sample := range samples {
			half := 2 * i / len(samples)
			most[half] = max(most[half], sample)
		}
		return most
	}
}
