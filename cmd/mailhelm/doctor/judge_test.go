package doctor

import (
	"io/fs"
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

// TestSecretFileStatus checks that the packaged configuration file, which belongs to root and which
// the group of the server may read, is accepted. The command that is proposed must not lock the
// server out.
func TestSecretFileStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode fs.FileMode
		own  bool
		fix  string
	}{
		{0o600, true, ""},
		{0o400, true, ""},
		{0o640, true, "chmod 600"},
		{0o604, true, "chmod 600"},
		{0o666, true, "chmod 600"},
		{0o640, false, ""},
		{0o440, false, ""},
		{0o600, false, ""},
		{0o644, false, "chmod 640"},
		{0o660, false, "chmod 640"},
	} {
		if status, fix := secretFileStatus(c.mode, c.own); fix != c.fix || (status == OK) != (c.fix == "") {
			t.Errorf("mode %04o, own %v: %s, %q", c.mode, c.own, status, fix)
		}
	}
}
