package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// watchedJobs is a JobStore that calls the function in its field read before it reads a
// chunk.
type watchedJobs struct {
	bulk.JobStore
	read func(ctx context.Context, first int) error
}

// watchedContacts is a ContactStore that calls the function in its field writes before each
// write of contacts.
type watchedContacts struct {
	bulk.ContactStore
	writes func(ctx context.Context) error
}

func (s watchedJobs) BulkChunk(ctx context.Context, orgID, jobID string, first int) (bulk.Chunk, error) {
	if err := s.read(ctx, first); err != nil {
		return bulk.Chunk{}, err
	}
	return s.JobStore.BulkChunk(ctx, orgID, jobID, first)
}

func (s watchedContacts) WriteContacts(ctx context.Context, orgID string, w bulk.ContactsWrite) error {
	if err := s.writes(ctx); err != nil {
		return err
	}
	return s.ContactStore.WriteContacts(ctx, orgID, w)
}

func people(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"email":"p%d@x.example","external_id":"%d"}`, i, i)
	}
	return rows
}

// TestNextChunkIsReadWhileOneIsWritten checks that the next chunk, and no later one, is
// read while the current chunk is written.
func TestNextChunkIsReadWhileOneIsWritten(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		reads, isRead := make(chan int, 9), make(chan struct{})
		b.Bulk.Store = watchedJobs{
			b.Bulk.Store,
			func(_ context.Context, first int) error {
				if reads <- first; first == 1000 {
					close(isRead)
				}
				return nil
			},
		}
		b.Bulk.Contacts = watchedContacts{
			b.Bulk.Contacts,
			func(ctx context.Context) error {
				select {
				case <-isRead:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			},
		}
		// without a deadline, a failing test would never end
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		id := b.AcceptRows(t, people(2500)...)
		if err := b.Bulk.BulkWorker().Work(ctx, bulk.Args{OrgID: b.Org.ID, JobID: id}); err != nil {
			t.Fatal(err)
		}
		items := b.Outcomes(t, id)
		close(reads)
		var read []int
		for first := range reads {
			read = append(read, first)
		}
		if diff := cmp.Diff([]int{0, 1000, 2000}, read); diff != "" {
			t.Error(diff)
		}
		for i, item := range items {
			if item["status"] != "created" || item["index"] != float64(i) {
				t.Fatalf("row %d: %v", i, item)
			}
		}
	})
}

// TestImportTakesAtMostMaxRows checks that an import of more than MaxRows rows fails, and
// that it stores nothing.
func TestImportTakesAtMostMaxRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var rows []json.RawMessage
	for _, row := range people(bulk.MaxRows + 1) {
		rows = append(rows, json.RawMessage(row))
	}
	id := core.NewID()
	if _, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByCommand, id, rows); err == nil {
		t.Error("it was imported")
	}
	if _, err := b.Bulk.TryImport(t.Context(), b.Org.ID, rows); err == nil {
		t.Error("it was tried")
	}
	if _, err := b.Bulk.Store.BulkJob(t.Context(), b.Org.ID, id); !core.IsNotFound(err) {
		t.Errorf("a bulk write was stored: %v", err)
	}
	if items, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByCommand, id, rows[:bulk.MaxRows]); err != nil || len(items) != bulk.MaxRows {
		t.Errorf("%d outcomes, %v", len(items), err)
	}
}

// TestChunkThatCannotBeReadAhead checks that an error while reading the next chunk does not
// affect the chunk that is being written.
func TestChunkThatCannotBeReadAhead(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		failure := errors.New("the disk is away")
		var failed atomic.Bool
		b.Bulk.Store = watchedJobs{
			b.Bulk.Store,
			func(_ context.Context, first int) error {
				if first == 1000 && !failed.Swap(true) {
					return failure
				}
				return nil
			},
		}
		id := core.NewID()
		var rows []json.RawMessage
		for _, row := range people(2500) {
			rows = append(rows, json.RawMessage(row))
		}
		if _, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByCommand, id, rows); !errors.Is(err, failure) {
			t.Fatalf("the failure came back as %v", err)
		}
		job, err := b.Bulk.Store.BulkJob(t.Context(), b.Org.ID, id)
		if err != nil || job.Processed != 1000 || job.Attempts != 1 || job.Status != bulk.Processing {
			t.Fatalf("%+v %v", job, err)
		}
		resumed, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByCommand, id, rows)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := b.Bulk.Store.BulkItems(t.Context(), b.Org.ID, id, 0, bulk.MaxRows)
		if diff := cmp.Diff(stored, resumed); diff != "" || err != nil || len(stored) != len(rows) {
			t.Errorf("what an import returns is not what is stored: %v\n%s", err, diff)
		}
		whole, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByCommand, core.NewID(), rows)
		if err != nil || len(whole) != len(rows) || whole[2499].Status != bulk.ItemUpdated || whole[2499].Index != 2499 {
			t.Errorf("done in one go: %d %v", len(whole), err)
		}
	})
}
