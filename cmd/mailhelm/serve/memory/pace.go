package memory

import (
	"runtime"
	"runtime/metrics"
)

const (
	// freeHeap is the size in bytes up to which the heap may grow at GOGC=400. A process that
	// uses 32 MB reaches it.
	freeHeap = 160 << 20
	// smallestPace is the least GOGC in percent, for a process that uses 128 MB or more. The
	// heap may grow by a quarter. With less, collections would take too much processor time.
	smallestPace = 25
)

// paceFor returns GOGC in percent for a process that uses so many bytes of heap, stacks and
// global variables. GOGC=400 makes collections rare while little memory is in use. If much is
// in use, such as by thousands of connections, it would leave four times as much garbage.
func paceFor(used uint64) int {
	if used == 0 {
		return boundedPace
	}
	free := (freeHeap - min(used, freeHeap)) * 100 / used
	return int(min(max(free, smallestPace), boundedPace))
}

// inUse returns the bytes to which the Go runtime applies GOGC: the objects that the last
// collection kept, and the stacks and global variables that it scanned.
func inUse() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	sum := uint64(0)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// followCollections calls f after each run of the garbage collector, until the process ends.
// Several runs in a short time may cause one call.
func followCollections(f func()) {
	// The pointer keeps the object out of the blocks in which the runtime packs tiny objects
	// and which it frees later.
	type sentinel struct{ _ *int }
	var watch func(struct{})
	watch = func(struct{}) {
		runtime.AddCleanup(&sentinel{}, func(struct{}) {
			f()
			watch(struct{}{})
		}, struct{}{})
	}
	watch(struct{}{})
}
