package doctor

import (
	"testing"
	"time"
)

func TestDiskStatus(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]Status{0: Fail, fullDisk - 1: Fail, fullDisk: Warn, scarceDisk - 1: Warn, scarceDisk: OK} {
		if got, next := diskStatus(free); got != want || (next == "") != (want == OK) {
			t.Errorf("%d bytes: %s, %q", free, got, next)
		}
	}
}

func TestClockStatus(t *testing.T) {
	t.Parallel()
	before := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	after := before.Add(100 * time.Millisecond)
	for theirs, want := range map[time.Time]Status{
		before: OK, after: OK, before.Add(50 * time.Millisecond): OK, before.Add(-time.Second): OK, after.Add(time.Second): OK,
		before.Add(-clockWarn): Warn, after.Add(clockWarn): Warn, before.Add(-clockFail): Fail, after.Add(clockFail): Fail,
	} {
		if got, _ := clockStatus(before, theirs, after); got != want {
			t.Errorf("%s: %s", theirs, got)
		}
	}
}
