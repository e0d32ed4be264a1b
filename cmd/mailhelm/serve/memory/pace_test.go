package memory

import (
	"runtime"
	"testing"
	"time"
)

func TestPaceFallsWithMemoryInUse(t *testing.T) {
	t.Parallel()
	for used, want := range map[uint64]int{
		0: 400, 1: 400, 15 * megabyte: 400, 32 * megabyte: 400, 40 * megabyte: 300, 80 * megabyte: 100,
		128 * megabyte: 25, 160 * megabyte: 25, 300 * megabyte: 25, 1 << 40: 25,
	} {
		if got := paceFor(used); got != want {
			t.Errorf("%d MB in use: GOGC %d, want %d", used/megabyte, got, want)
		}
	}
}

func TestInUseCountsWhatACollectionKept(t *testing.T) {
	kept := make([]byte, 64*megabyte)
	runtime.GC()
	with := inUse()
	runtime.KeepAlive(kept) // and not after this line
	runtime.GC()
	if without := inUse(); with < 64*megabyte || without == 0 || with-without < 60*megabyte {
		t.Errorf("%d MB in use with 64 MB that are kept, %d without", with/megabyte, without/megabyte)
	}
}

// TestCollectionsAreFollowed runs several collections, because the sentinel of a collection is
// made anew by the call for the one before.
func TestCollectionsAreFollowed(t *testing.T) {
	t.Parallel()
	collected := make(chan struct{}, 100)
	followCollections(func() {
		select {
		case collected <- struct{}{}:
		default:
		}
	})
	for n := range 3 {
		ended := time.After(30 * time.Second)
		for called := false; !called; {
			runtime.GC()
			select {
			case <-collected:
				called = true
			case <-ended:
				t.Fatalf("%d collections caused a call", n)
			default:
			}
		}
	}
}
