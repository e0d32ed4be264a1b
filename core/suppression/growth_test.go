package suppression_test

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestGrowth checks which addresses count as newly undeliverable, and from which number on
// they are notable. Today is day 60, so the seven days begin with day 54.
func TestGrowth(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	growth := func() suppression.Growth {
		t.Helper()
		g, err := b.s.Growth(t.Context(), b.org)
		b.must(err)
		return g
	}
	bounce := func(recipient string, day int) {
		t.Helper()
		b.must(b.record(t.Context(), b.event(recipient, messages.Bounce, "Permanent", day)))
	}
	bounce("early@example.com", 52)
	bounce("early@example.com", 58) // listed before, and changed since
	bounce("late@example.com", 53)
	for i := range 9 {
		bounce(fmt.Sprintf("new%d@example.com", i), 54+i%7)
	}
	if g := growth(); g != (suppression.Growth{Listed: 9}) || g.Notable() {
		t.Errorf("nine addresses: %+v, notable %t", g, g.Notable())
	}
	bounce("new9@example.com", 60)
	if g := growth(); g != (suppression.Growth{Listed: 10}) || !g.Notable() {
		t.Errorf("ten addresses: %+v, notable %t", g, g.Notable())
	}
}
