package engine

import (
	"context"
	"database/sql"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// What the tests in engine_test see of the inside. They stand outside, because
// storagetest imports storage, which imports this package.

// ExecText runs SQL in the transaction of ctx, which must carry one.
func (db *DB) ExecText(ctx context.Context, query string, args ...any) error {
	_, err := db.transaction(ctx).tx.ExecContext(ctx, query, args...)
	return err
}

// OpenSlots is what PostgreSQL reads.
func OpenSlots(text string) string { return openSlots(text) }

// JobSteps is the table of River's versions.
func JobSteps() map[int64]int { return jobSteps }

// TestGate stands before the connections of a pool.
type TestGate struct{ gate *gate }

// NewTestGate makes one with the wait of the product.
func NewTestGate(sizes map[core.Lane]int) TestGate { return TestGate{newGate(0, sizes)} }

// Enter waits for a connection, which the function it returns gives back.
func (g TestGate) Enter(ctx context.Context) (leave func(), err error) {
	p, err := g.gate.enter(ctx)
	return p.leave, err
}

// Failure is what a call fails with when a statement does.
func (db *DB) Failure(ctx context.Context, err error) error { return db.cause(ctx, err) }

// ExpensiveReader is the handle of expensive reads.
func (db *DB) ExpensiveReader() *sql.DB { return db.expensive.sql }

// WriterSlots is how many calls write at once.
func (db *DB) WriterSlots() int { return db.write.gate.shares[core.Calls].free }

// SetCallerWait sets how long calls wait for a connection, before any is made.
func (db *DB) SetCallerWait(wait time.Duration) {
	for _, p := range db.pools() {
		p.gate.wait = wait
	}
}

// JobRows returns the jobs of the queue, at most 100.
func JobRows(ctx context.Context, j *Jobs) ([]*rivertype.JobRow, error) {
	listed, err := j.inserter.JobList(ctx, river.NewJobListParams())
	if err != nil {
		return nil, err
	}
	return listed.Jobs, nil
}

// MakeDue makes a job run now that waits for a time.
func MakeDue(ctx context.Context, j *Jobs, id int64) error {
	_, err := j.inserter.JobRetry(ctx, id)
	return err
}
