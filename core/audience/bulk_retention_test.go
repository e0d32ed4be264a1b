package audience_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// A finished job is kept for seven days, an unfinished one for ever.
func TestFinishedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id := b.accept(t, `{"email":"a@x.example"}`)
		b.advance(30 * 24 * time.Hour)
		if items := b.accepted(t, id); items[0]["status"] != "created" {
			t.Errorf("an old job that was not finished: %v", items)
		}
		b.advance(7*24*time.Hour - time.Second)
		b.accepted(t, id)
		b.advance(2 * time.Second)
		if err := b.audience.BulkWorker().Work(t.Context(), audience.BulkArgs{}); err != nil {
			t.Fatal(err)
		}
		b.refuse(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`, core.CodeNotFound)
	})
}

// A chunk that always fails ends its job. Afterwards no worker tries it again.
func TestAJobThatCannotGoOnFails(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id := b.accept(t, `{"email":"a@x.example"}`)
		broken := errors.New("broken")
		b.audience.Changed = func(context.Context, string, []string) error { return broken }
		for attempt := range 10 {
			shown := b.want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
			if shown["status"] != "queued" || shown["completed_at"] != nil {
				t.Fatalf("attempt %d: %v", attempt, shown)
			}
			if err := b.audience.BulkWorker().Work(t.Context(), audience.BulkArgs{OrgID: b.org.ID, JobID: id}); !errors.Is(err, broken) {
				t.Fatalf("attempt %d: %v", attempt, err)
			}
		}
		shown := b.want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
		if shown["status"] != "failed" || shown["processed"] != 0.0 || shown["completed_at"] == nil || shown["next_cursor"] != nil {
			t.Errorf("at the end: %v", shown)
		}
		if err := b.audience.BulkWorker().Work(t.Context(), audience.BulkArgs{OrgID: b.org.ID, JobID: id}); err != nil {
			t.Errorf("tried again: %v", err)
		}
		b.refuse(t, "contacts_lookup", `{"email":"a@x.example"}`, core.CodeNotFound)
	})
}
