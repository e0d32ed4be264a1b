package audience_test

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
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// watchedStore reports reads of chunks and writes of contacts before it performs them.
type watchedStore struct {
	audience.Store
	read   func(ctx context.Context, first int) error
	writes func(ctx context.Context) error
}

func (s watchedStore) BulkChunk(ctx context.Context, orgID, jobID string, first int) (audience.BulkChunk, error) {
	if err := s.read(ctx, first); err != nil {
		return audience.BulkChunk{}, err
	}
	return s.Store.BulkChunk(ctx, orgID, jobID, first)
}

func (s watchedStore) WriteContacts(ctx context.Context, orgID string, w audience.ContactsWrite) error {
	if err := s.writes(ctx); err != nil {
		return err
	}
	return s.Store.WriteContacts(ctx, orgID, w)
}

func people(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"email":"p%d@x.example","external_id":"%d"}`, i, i)
	}
	return rows
}

// The next chunk is read while the current one is written. No other chunk is.
func TestNextChunkIsReadWhileOneIsWritten(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		reads, isRead := make(chan int, 9), make(chan struct{})
		b.audience.Store = watchedStore{
			b.audience.Store,
			func(_ context.Context, first int) error {
				if reads <- first; first == 1000 {
					close(isRead)
				}
				return nil
			},
			func(ctx context.Context) error {
				select {
				case <-isRead:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // without a deadline, a failure would block for ever
		defer cancel()
		id := b.accept(t, people(2500)...)
		if err := b.audience.BulkWorker().Work(ctx, audience.BulkArgs{OrgID: b.org.ID, JobID: id}); err != nil {
			t.Fatal(err)
		}
		items := b.outcomes(t, id)
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

// An error while reading a chunk ahead fails only that chunk.
func TestChunkThatCannotBeReadAhead(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		failure := errors.New("the disk is away")
		var failed atomic.Bool
		b.audience.Store = watchedStore{
			b.audience.Store,
			func(_ context.Context, first int) error {
				if first == 1000 && !failed.Swap(true) {
					return failure
				}
				return nil
			},
			func(context.Context) error { return nil },
		}
		id := core.NewID()
		var rows []json.RawMessage
		for _, row := range people(2500) {
			rows = append(rows, json.RawMessage(row))
		}
		if _, err := b.audience.Import(t.Context(), b.org.ID, id, rows); !errors.Is(err, failure) {
			t.Fatalf("the failure came back as %v", err)
		}
		job, err := b.audience.Store.BulkJob(t.Context(), b.org.ID, id)
		if err != nil || job.Processed != 1000 || job.Attempts != 1 || job.Status != audience.BulkProcessing {
			t.Fatalf("%+v %v", job, err)
		}
		resumed, err := b.audience.Import(t.Context(), b.org.ID, id, rows)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := b.audience.Store.BulkItems(t.Context(), b.org.ID, id, 0, audience.MaxBulkRows)
		if diff := cmp.Diff(stored, resumed); diff != "" || err != nil || len(stored) != len(rows) {
			t.Errorf("what an import returns is not what is stored: %v\n%s", err, diff)
		}
		whole, err := b.audience.Import(t.Context(), b.org.ID, core.NewID(), rows)
		if err != nil || len(whole) != len(rows) || whole[2499].Status != audience.ItemUpdated || whole[2499].Index != 2499 {
			t.Errorf("done in one go: %d %v", len(whole), err)
		}
	})
}
