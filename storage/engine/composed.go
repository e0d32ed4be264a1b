package engine

import (
	"context"
	"database/sql"
	"fmt"
)

// Composed is a query whose SQL is built for one call. It is not prepared, so PostgreSQL
// plans it with the actual values.
type Composed struct {
	// Name identifies the query in errors.
	Name string
	Text string
	Args []any
	// AggregatesOnce forbids nested-loop joins on PostgreSQL where possible. Set it for
	// queries that join the result of an aggregation. With missing or old statistics
	// PostgreSQL expects one row on each side of the join, and repeats the aggregation for
	// each row of the other side. SQLite ignores it.
	AggregatesOnce bool
}

// Rows runs a query and returns the result of scan for every row. It uses the transaction
// of ctx, or a read connection outside a transaction.
func Rows[R any](ctx context.Context, db *DB, c Composed, scan func(*sql.Rows) (R, error)) ([]R, error) {
	var all []R
	err := db.Retry(ctx, func() error {
		all = nil
		return db.runComposed(ctx, c, func(rows *sql.Rows) error {
			row, err := scan(rows)
			all = append(all, row)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("storage: %s: %w", c.Name, db.cause(ctx, err))
	}
	return all, nil
}

// querier is a connection pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// runComposed runs the query and calls the function each for every row, until a call of
// each returns an error.
func (db *DB) runComposed(ctx context.Context, c Composed, each func(*sql.Rows) error) error {
	if t := db.transaction(ctx); t != nil {
		if t.waitsFor(c.Text) {
			if _, err := db.runWaiting(ctx, t); err != nil {
				return err
			}
		}
		if !db.hashes(c) {
			return db.eachRow(ctx, t.tx, c, each)
		}
		return joinHashing(ctx, t.tx, func() error { return db.eachRow(ctx, t.tx, c, each) })
	}
	p := db.pool(ctx, false)
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer pass.leave()
	err = db.runOn(ctx, p, c, each)
	if !db.replicaEnded(ctx, p, err) {
		return replicaFailure{err}
	}
	return err
}

// runOn is runComposed outside of a transaction, on the pool p.
func (db *DB) runOn(ctx context.Context, p *pool, c Composed, each func(*sql.Rows) error) error {
	if !db.hashes(c) && !p.transactional {
		return db.eachRow(ctx, p.sql, c, each)
	}
	// enable_nestloop is set in a transaction, so that the setting ends with the query.
	tx, err := p.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return unbegun{err}
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	if !db.hashes(c) {
		return db.eachRow(ctx, tx, c, each)
	}
	return joinHashing(ctx, tx, func() error { return db.eachRow(ctx, tx, c, each) })
}

// hashes reports whether nested-loop joins must be disabled for the query.
func (db *DB) hashes(c Composed) bool { return c.AggregatesOnce && db.dialect == PostgreSQL }

// joinHashing runs f with nested-loop joins disabled in the transaction, so that PostgreSQL
// joins by hashing or sorting where it can.
func joinHashing(ctx context.Context, tx *sql.Tx, f func() error) error {
	if _, err := tx.ExecContext(ctx, "SET LOCAL enable_nestloop = off"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "SET LOCAL enable_nestloop = on")
	return err
}

// eachRow runs the query on a pool or a transaction. It calls the function each for every
// row, until one call returns an error.
func (db *DB) eachRow(ctx context.Context, from querier, c Composed, each func(*sql.Rows) error) error {
	rows, err := from.QueryContext(ctx, db.dialect.Text(c.Text), c.Args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// NotDeleted returns the condition that an organization was not deleted. column has its id.
// Statements that work for all organizations have it, so that nothing happens for a deleted
// one.
func NotDeleted(column string) string {
	return column + ` NOT IN (SELECT gone.id FROM orgs AS gone WHERE gone.deleted_at IS NOT NULL)`
}
