package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	var screen strings.Builder
	if p := NewProgress(&screen, 200, clock); p.to != nil {
		t.Fatal("what is no terminal gets a bar")
	}
	p := &Progress{to: &screen, total: 200, clock: clock}
	p.Show(100, "many events")
	p.Show(150, "too soon after the last")
	now = now.Add(time.Second)
	p.Show(400, "done")
	p.End()
	want := "\r[###############...............]  50%  many events" +
		"\r[##############################] 100%  done       " +
		"\r" + strings.Repeat(" ", 43) + "\r"
	if diff := cmp.Diff(want, screen.String()); diff != "" {
		t.Error(diff)
	}
	unknown := &Progress{to: &screen, clock: clock}
	if got := unknown.bar(10); got != "" {
		t.Errorf("of what has no size: %q", got)
	}
}
