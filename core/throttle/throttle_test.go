package throttle_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/throttle"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestTake(t *testing.T) {
	t.Parallel()
	th := throttle.New(3, time.Minute)
	for _, step := range []struct {
		after time.Duration
		key   string
		wait  time.Duration
	}{
		{0, "a", 0},
		{0, "a", 0},
		{time.Second, "a", 0},
		{time.Second, "a", 59 * time.Second},
		{time.Second, "a", 59 * time.Second}, // a refused attempt counts nothing
		{time.Second, "b", 0},
		{60 * time.Second, "a", 0},
		{60 * time.Second, "a", 60 * time.Second},
		{time.Hour, "a", 0},
		{time.Hour, "a", 0},
		{time.Hour, "a", 0},
		{time.Hour, "a", time.Minute},
	} {
		if got := th.Take(step.key, start.Add(step.after)); got != step.wait {
			t.Errorf("%s after %v: wait %v, want %v", step.key, step.after, got, step.wait)
		}
	}
	th.Forget("a")
	if wait := th.Take("a", start.Add(time.Hour)); wait != 0 {
		t.Errorf("after Forget: %v", wait)
	}
}

// TestTakeAtOnce checks many goroutines that call Take at the same time. Together they may
// take only as many calls as the burst allows.
func TestTakeAtOnce(t *testing.T) {
	t.Parallel()
	th := throttle.New(10, time.Minute)
	var passed atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 100 {
				if th.Take("a", start) == 0 {
					passed.Add(1)
				}
			}
		})
	}
	running.Wait()
	if passed.Load() != 10 {
		t.Errorf("%d passed", passed.Load())
	}
}

// TestTakeKeepsNoKeys checks that Take allocates no memory for new keys. It counts the
// allocations of the whole process, so it does not run in parallel.
func TestTakeKeepsNoKeys(t *testing.T) {
	th := throttle.New(10, time.Minute)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	allocated := testing.AllocsPerRun(10, func() {
		for _, key := range keys {
			th.Take(key, start)
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations for 1,000 keys", allocated)
	}
}
