package storage

import (
	"context"
	"database/sql"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// What the tests in storage_test see of the inside. They stand outside, because
// storagetest imports storage.

// Statements lists every registered statement.
func Statements() []*Statement { return statements }

// Name and Text are the statement as it was registered.
func (s *Statement) Name() string { return s.name }
func (s *Statement) Text() string { return s.text }

// Writer is the handle that writes.
func (db *DB) Writer() *sql.DB { return db.write.sql }

// Reader is the handle that reads.
func (db *DB) Reader() *sql.DB { return db.read.sql }

// EngineText is SQL as the engine reads it.
func (db *DB) EngineText(text string) string { return db.engine.text(text) }

// Exec runs SQL in the transaction of ctx, which must carry one.
func (db *DB) Exec(ctx context.Context, query string, args ...any) error {
	_, err := db.transaction(ctx).tx.ExecContext(ctx, query, args...)
	return err
}

// OpenSlots is what PostgreSQL reads.
func OpenSlots(text string) string { return openSlots(text) }

// JobSteps is the table of River's versions.
func JobSteps() map[int64]int { return jobSteps }

// MaxKinds is how many kinds of messages a page looks at.
const MaxKinds = maxKinds

// Matching are the contacts that a predicate's SQL finds.
func (db *DB) Matching(ctx context.Context, q segments.Question) ([]string, error) {
	return db.matching(ctx, &q)
}

// EncodeAttributes is the stored form of attributes.
func EncodeAttributes(attributes map[string]any) (string, error) { return encodeAttributes(attributes) }

// PredicateSQL counts the contacts of a question, as the engine reads it.
func PredicateSQL(name string, q segments.Question) (string, []any, error) {
	e := engine(name)
	c, err := e.conditionOf(&q, "")
	if err != nil {
		return "", nil, err
	}
	text, args := numbered(c.selecting(`count(*)`), c.args)
	return e.text(text), args, nil
}

// Gate stands before the connections of a pool.
type Gate struct{ gate *gate }

// NewGate makes one with the wait of the product.
func NewGate(sizes map[core.Lane]int) Gate { return Gate{newGate(0, sizes)} }

// Enter waits for a connection, which the function it returns gives back.
func (g Gate) Enter(ctx context.Context) (leave func(), err error) {
	p, err := g.gate.enter(ctx)
	return p.leave, err
}

// Failure is what a call fails with when a statement does.
func (db *DB) Failure(ctx context.Context, err error) error { return db.cause(ctx, err) }

// ExpensiveReader is the handle of expensive reads.
func (db *DB) ExpensiveReader() *sql.DB { return db.expensive.sql }

// WriterSlots is how many calls write at once.
func WriterSlots(db *DB) int { return db.write.gate.shares[core.Calls].free }

// SetCallerWait sets how long calls wait for a connection, before any is made.
func SetCallerWait(db *DB, wait time.Duration) {
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
