package bulk_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestFinishedJobsAreForgotten checks that a finished bulk write is deleted after seven
// days, and an unfinished one is not deleted.
func TestFinishedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id := b.AcceptRows(t, `{"email":"a@x.example"}`)
		b.Advance(30 * 24 * time.Hour)
		if items := b.FinishRows(t, id); items[0]["status"] != "created" {
			t.Errorf("an old job that was not finished: %v", items)
		}
		b.Advance(7*24*time.Hour - time.Second)
		b.FinishRows(t, id)
		b.Advance(2 * time.Second)
		if err := b.Bulk.BulkWorker().Work(t.Context(), bulk.Args{}); err != nil {
			t.Fatal(err)
		}
		b.Refuse(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`, core.CodeNotFound)
	})
}

// TestAJobThatCannotGoOnFails checks that a bulk write whose chunk always fails gets the
// status failed, and that no worker processes it again.
func TestAJobThatCannotGoOnFails(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id := b.AcceptRows(t, `{"email":"a@x.example"}`)
		broken := errors.New("broken")
		b.Bulk.OnChange = func(context.Context, string, []string) error { return broken }
		for attempt := range 10 {
			shown := b.Want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
			if shown["status"] != "queued" || shown["completed_at"] != nil {
				t.Fatalf("attempt %d: %v", attempt, shown)
			}
			if err := b.Bulk.BulkWorker().Work(t.Context(), bulk.Args{OrgID: b.Org.ID, JobID: id}); !errors.Is(err, broken) {
				t.Fatalf("attempt %d: %v", attempt, err)
			}
		}
		shown := b.Want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
		if shown["status"] != "failed" || shown["processed"] != 0.0 || shown["completed_at"] == nil || shown["next_cursor"] != nil {
			t.Errorf("at the end: %v", shown)
		}
		if err := b.Bulk.BulkWorker().Work(t.Context(), bulk.Args{OrgID: b.Org.ID, JobID: id}); err != nil {
			t.Errorf("tried again: %v", err)
		}
		b.Refuse(t, "contacts_lookup", `{"email":"a@x.example"}`, core.CodeNotFound)
	})
}
