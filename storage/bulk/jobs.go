package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// bulkJobColumns lists the columns of bulk_jobs that are read. The contact rows of a bulk
// job are in the table bulk_chunks.
const bulkJobColumns = `id, caller, status, total, processed, succeeded, failed, attempts, created_at, completed_at`

var (
	// insertBulkJob inserts a bulk job. It changes nothing if a job with the id exists.
	insertBulkJob = engine.Register("insert bulk job", `
		INSERT INTO bulk_jobs (org_id, id, caller, status, total, processed, succeeded, failed, attempts, created_at)
		VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, $6)
		ON CONFLICT DO NOTHING`)
	// insertBulkChunk stores a chunk of a bulk job: contact rows as the caller sent them.
	// finishBulkChunk later replaces them by their outcomes.
	insertBulkChunk = engine.Register("insert bulk chunk", `
		INSERT INTO bulk_chunks (org_id, job_id, first_index, size, content, outcomes)
		VALUES ($1, $2, $3, $4, $5, '[]')`)
	updateBulkJob = engine.Register("update bulk job", `
		UPDATE bulk_jobs SET status = $1, processed = $2, succeeded = $3, failed = $4, attempts = $5, completed_at = $6
		WHERE org_id = $7 AND id = $8`)
	// finishBulkChunk deletes the rows of a chunk and stores their outcomes.
	finishBulkChunk = engine.Register("finish bulk chunk", `
		UPDATE bulk_chunks SET content = '[]', outcomes = $1
		WHERE org_id = $2 AND job_id = $3 AND first_index = $4`)

	bulkJobByID = engine.RegisterPoint("bulk job by id", `SELECT `+bulkJobColumns+` FROM bulk_jobs WHERE org_id = $1 AND id = $2`)
	// lockBulkJob locks a job, so that two workers do not process it at the same time.
	// SQLite needs no lock, because it has one writer at a time.
	lockBulkJob = engine.Register("lock bulk job", `SELECT `+bulkJobColumns+` FROM bulk_jobs WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	bulkChunkAt = engine.RegisterPoint("bulk chunk", `
		SELECT content FROM bulk_chunks WHERE org_id = $1 AND job_id = $2 AND first_index = $3`)
	// openBulkJobs selects jobs that are not completed, oldest first, through the partial
	// index bulk_jobs_open.
	openBulkJobs = engine.Register("open bulk jobs", `
		SELECT id FROM bulk_jobs WHERE org_id = $1 AND completed_at IS NULL ORDER BY created_at, id`)
	// deleteBulkJobs deletes up to $3 jobs that were completed before $2, through the index
	// bulk_jobs_finished. A foreign key deletes their chunks.
	deleteBulkJobs = engine.Register("delete bulk jobs", `
		DELETE FROM bulk_jobs WHERE org_id = $1 AND id IN (
			SELECT id FROM bulk_jobs WHERE org_id = $1 AND completed_at < $2 ORDER BY completed_at, id LIMIT $3)`)
	// bulkOutcomes selects the outcomes of all chunks that overlap the range of $4 rows from
	// index $3 on.
	bulkOutcomes = engine.Register("bulk outcomes", `
		SELECT outcomes FROM bulk_chunks
		WHERE org_id = $1 AND job_id = $2 AND first_index + size > $3 AND first_index < CAST($3 AS bigint) + $4
		ORDER BY first_index`)
)

// bulkJobRow is a row of bulk_jobs. Its counts are those after the last finished chunk.
// CompletedAt is nil for a job that is not completed.
type bulkJobRow struct {
	ID          string       `db:"id"`
	Caller      string       `db:"caller"`
	Status      bulk.Status  `db:"status"`
	Total       int          `db:"total"`
	Processed   int          `db:"processed"`
	Succeeded   int          `db:"succeeded"`
	Failed      int          `db:"failed"`
	Attempts    int          `db:"attempts"`
	CreatedAt   engine.Time  `db:"created_at"`
	CompletedAt *engine.Time `db:"completed_at"`
}

// JobStore stores bulk writes with their rows and outcomes.
type JobStore struct{ db *engine.DB }

var _ bulk.JobStore = JobStore{}

// NewJobStore returns the store of bulk writes in the given database.
func NewJobStore(db *engine.DB) JobStore { return JobStore{db} }

// InsertBulkJob stores the job and all its rows in one transaction. It fails with Conflict
// if a job with the id exists.
func (s JobStore) InsertBulkJob(ctx context.Context, orgID string, j bulk.Job, chunks []bulk.Chunk) error {
	taken := core.Conflict("There is a bulk job with this id.", "Read that job.")
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Insert(ctx, taken, insertBulkJob, orgID, j.ID, j.Caller, string(j.Status), j.Total, engine.At(j.CreatedAt)); err != nil {
			return err
		}
		for _, chunk := range chunks {
			content, err := engine.JSONParameter(chunk.Rows)
			if err != nil {
				return err
			}
			if _, err := s.db.Exec(ctx, insertBulkChunk, orgID, j.ID, chunk.First, len(chunk.Rows), content); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s JobStore) BulkJob(ctx context.Context, orgID, id string) (bulk.Job, error) {
	row, err := engine.One[bulkJobRow](ctx, s.db, "bulk job", s.db.LockedInside(ctx, bulkJobByID, lockBulkJob), orgID, id)
	if err != nil {
		return bulk.Job{}, err
	}
	return bulk.Job{
		ID: row.ID, Caller: row.Caller, Status: row.Status, Total: row.Total, Processed: row.Processed, Succeeded: row.Succeeded, Failed: row.Failed,
		Attempts: row.Attempts, CreatedAt: row.CreatedAt.Time(), CompletedAt: engine.OptionalTime(row.CompletedAt),
	}, nil
}

func (s JobStore) UpdateBulkJob(ctx context.Context, orgID string, j bulk.Job) error {
	return s.db.Change(ctx, "bulk job", updateBulkJob, string(j.Status), j.Processed, j.Succeeded, j.Failed, j.Attempts,
		engine.OptionalAt(j.CompletedAt), orgID, j.ID)
}

func (s JobStore) OpenBulkJobs(ctx context.Context, orgID string) ([]string, error) {
	return engine.Values[string](ctx, s.db, openBulkJobs, orgID)
}

func (s JobStore) DeleteBulkJobs(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, deleteBulkJobs, orgID, engine.At(before), limit)
}

func (s JobStore) BulkChunk(ctx context.Context, orgID, jobID string, first int) (bulk.Chunk, error) {
	found, err := engine.Values[string](ctx, s.db, bulkChunkAt, orgID, jobID, first)
	if err != nil {
		return bulk.Chunk{}, err
	}
	if len(found) == 0 {
		return bulk.Chunk{}, core.NotFound("bulk chunk")
	}
	chunk := bulk.Chunk{First: first}
	if err := json.Unmarshal([]byte(found[0]), &chunk.Rows); err != nil {
		return bulk.Chunk{}, fmt.Errorf("storage: chunk %d of bulk job %s: %w", first, jobID, err)
	}
	return chunk, nil
}

func (s JobStore) FinishBulkChunk(ctx context.Context, orgID, jobID string, first int, outcomes []bulk.Item) error {
	parameter, err := engine.JSONParameter(outcomes)
	if err != nil {
		return err
	}
	return s.db.Change(ctx, "bulk chunk", finishBulkChunk, parameter, orgID, jobID, first)
}

// BulkItems returns the outcomes of a bulk write, starting with the row at the index in
// from. It reads whole chunks, so it may return more than limit outcomes.
func (s JobStore) BulkItems(ctx context.Context, orgID, jobID string, from, limit int) ([]bulk.Item, error) {
	found, err := engine.Values[string](ctx, s.db, bulkOutcomes, orgID, jobID, from, limit)
	if err != nil {
		return nil, err
	}
	var items []bulk.Item
	for _, text := range found {
		var chunk []bulk.Item
		if err := json.Unmarshal([]byte(text), &chunk); err != nil {
			return nil, fmt.Errorf("storage: outcomes of bulk job %s: %w", jobID, err)
		}
		for _, item := range chunk {
			if item.Index >= from {
				items = append(items, item)
			}
		}
	}
	return items, nil
}
