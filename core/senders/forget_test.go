package senders_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/senders"
)

// TestForget runs the job that deletes old claims. It keeps verified ones, and those whose code
// expired less than 30 days ago.
func TestForget(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		verified, code := w.claimed(t, w.ada, "ada@example.com")
		_, err := w.confirm(t, w.ada, verified.ID, code)
		must(t, err)
		w.claimed(t, w.ada, "typo@example.com")
		w.advance(senders.CodeLifetime + time.Second)
		late, _ := w.claimed(t, w.ada, "late@example.com")
		work := senders.ForgetWorker(w.Store, w.Starts, func(context.Context) ([]string, error) { return []string{w.org.ID}, nil }, w.clock).Work
		expect := func(want ...string) {
			t.Helper()
			must(t, work(t.Context(), senders.ForgetArgs{}))
			left := w.list(t, w.ada)
			if len(left) != len(want) {
				t.Fatalf("claims %+v, want %v", left, want)
			}
			for i, id := range want {
				if left[i].ID != id {
					t.Errorf("claims %+v, want %v", left, want)
				}
			}
		}
		w.advance(senders.Kept - time.Second)
		if before := w.list(t, w.ada); len(before) != 3 {
			t.Fatalf("claims %+v", before)
		}
		w.advance(time.Second)
		expect(late.ID, verified.ID)
		w.advance(senders.Kept)
		expect(verified.ID)
	})
}
