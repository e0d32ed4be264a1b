package handover_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestJobGivesUp runs the job before and after the attempts have waited for events.
func TestJobGivesUp(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	orgs, send, now := []string{core.NewID(), core.NewID()}, core.NewID(), &clock{now: start}
	for _, org := range orgs {
		if err := db.Handover().Add(t.Context(), org, send, []handover.Recipient{{Key: "r", Email: "r@example.com"}}, start); err != nil {
			t.Fatal(err)
		}
		if err := db.Handover().Claim(t.Context(), org, send, []handover.Recipient{{Key: "r", CreatedAt: start}}, "process", start); err != nil {
			t.Fatal(err)
		}
	}
	job := handover.GiveUpWorker(db.Handover(), func(context.Context) ([]string, error) { return orgs, nil }, now.Now)
	for _, want := range []handover.State{handover.HandingOver, handover.Failed} {
		if err := job.Work(t.Context(), handover.GiveUpArgs{}); err != nil {
			t.Fatal(err)
		}
		for _, org := range orgs {
			if got, err := db.Handover().Recipient(t.Context(), org, send, "r"); err != nil || got.State != want {
				t.Errorf("%+v, %v, want %s", got, err, want)
			}
		}
		now.advance(handover.Patience)
	}
}
