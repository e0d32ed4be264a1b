package engine

import (
	"context"
	"database/sql"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// This file exports unexported functions to the tests in package engine_test. The tests are
// in an external package, because they import enginetest, which imports this package.

// ExecText runs an SQL text in the transaction of ctx. It panics without a transaction.
func (db *DB) ExecText(ctx context.Context, query string, args ...any) error {
	_, err := db.transaction(ctx).tx.ExecContext(ctx, query, args...)
	return err
}

// OpenSlots returns an SQL text for PostgreSQL: it replaces each comment /*pg text*/ by its
// text.
func OpenSlots(text string) string { return openSlots(text) }

// JobSteps returns the versions of River's job tables by the version of Mailhelm's schema
// that installs them.
func JobSteps() map[int64]int { return jobSteps }

// TestGate exports gate, which limits how many calls use a connection pool at the same
// time.
type TestGate struct{ gate *gate }

// NewTestGate returns a gate with the default waiting time. sizes has the number of
// connections by lane; see [core.Lane].
func NewTestGate(sizes map[core.Lane]int) TestGate { return TestGate{newGate(0, sizes)} }

// Enter waits until the gate admits a connection. The returned function releases the
// connection.
func (g TestGate) Enter(ctx context.Context) (leave func(), err error) {
	p, err := g.gate.enter(ctx)
	return p.leave, err
}

// Failure returns the error that a caller gets if a statement failed with err.
func (db *DB) Failure(ctx context.Context, err error) error { return db.cause(ctx, err) }

// ExpensiveReader returns the handle of the pool for expensive reads.
func (db *DB) ExpensiveReader() *sql.DB { return db.expensive.sql }

// WriterSlots returns how many calls may write at once.
func (db *DB) WriterSlots() int { return db.write.gate.shares[core.Calls].free }

// SetCallerWait sets how long calls wait for a connection. It must be called before any
// other call.
func (db *DB) SetCallerWait(wait time.Duration) {
	for _, p := range db.pools() {
		p.gate.wait = wait
	}
}

// JobRows returns up to 100 jobs of the queue.
func JobRows(ctx context.Context, j *Jobs) ([]*rivertype.JobRow, error) {
	listed, err := j.inserter.JobList(ctx, river.NewJobListParams())
	if err != nil {
		return nil, err
	}
	return listed.Jobs, nil
}

// MakeDue changes a job that is scheduled for later, so that it is due now.
func MakeDue(ctx context.Context, j *Jobs, id int64) error {
	_, err := j.inserter.JobRetry(ctx, id)
	return err
}

// Prepared returns the number of prepared statements on the pool for writes if writes is
// true, else on the pool for reads.
func (db *DB) Prepared(writes bool) int {
	p, n := db.pool(context.Background(), writes), 0
	for i := range p.usage {
		if p.usage[i].prepared.Load() != nil {
			n++
		}
	}
	return n
}

// PreparedInside returns the number of statements that the transaction of ctx has prepared
// on its own connection.
func (db *DB) PreparedInside(ctx context.Context) int {
	n := 0
	for _, stmt := range db.transaction(ctx).noted {
		if stmt != nil {
			n++
		}
	}
	return n
}

// DropIdle closes the unused connections of all pools.
func (db *DB) DropIdle() {
	for _, p := range db.pools() {
		p.dropIdle()
	}
}

// Waiting returns the number of writes that wait in the transaction of ctx; see [DB.Later].
func (db *DB) Waiting(ctx context.Context) int { return len(db.transaction(ctx).waiting) }

// AwaitPosition lets the replica of db be probed for a position of the write-ahead log.
func (db *DB) AwaitPosition(lsn string) {
	db.replica.mu.Lock()
	defer db.replica.mu.Unlock()
	db.replica.pending = position{lsn: lsn, at: time.Now()}
}

// AwaitsPosition reports whether the replica of db is probed for the position.
func (db *DB) AwaitsPosition(lsn string) bool {
	db.replica.mu.Lock()
	defer db.replica.mu.Unlock()
	return db.replica.pending.lsn == lsn
}

// LogPosition returns the position of the primary that the replica is to reach.
func (db *DB) LogPosition(ctx context.Context) (string, error) {
	p, err := db.replica.currentPosition(ctx)
	return p.lsn, err
}
