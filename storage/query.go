package storage

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
	"github.com/mailhelm/mailhelm/core"
)

// columns maps a column to the field whose "db" tag names it.
var columns = reflectx.NewMapper("db")

// stmt is the prepared statement on the transaction of ctx, or else on the pool
// that fits it.
func (db *DB) stmt(ctx context.Context, s *Statement) (*sql.Stmt, error) {
	if t := db.transaction(ctx); t != nil {
		return t.tx.StmtContext(ctx, db.write.prepared[s.index]), nil
	}
	p := db.read
	if s.writes {
		p = db.write
	}
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	return p.prepared[s.index], nil
}

// each runs a statement and calls f for every row it returns.
func (db *DB) each(ctx context.Context, s *Statement, args []any, f func(*sqlx.Rows) error) error {
	stmt, err := db.stmt(ctx, s) //nolint:sqlclosecheck // the pool's or the transaction's, which close it
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(db.patience(ctx, s), args...)
	if err != nil {
		return s.wrap(cause(ctx, err))
	}
	defer func() { _ = rows.Close() }() // rows.Err has told what there is to tell
	scanner := &sqlx.Rows{Rows: rows, Mapper: columns}
	for rows.Next() {
		if err := f(scanner); err != nil {
			return s.wrap(cause(ctx, err))
		}
	}
	if err := rows.Err(); err != nil {
		return s.wrap(cause(ctx, err))
	}
	return nil
}

// patience is the context that a read runs under; see registerPoint.
func (db *DB) patience(ctx context.Context, s *Statement) context.Context {
	if s.point && db.engine == sqlite && ctx.Err() == nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// list returns every row as an R, a struct with "db" tags.
func list[R any](ctx context.Context, db *DB, s *Statement, args ...any) ([]R, error) {
	var all []R
	err := db.retry(ctx, func() error {
		all = nil
		return db.each(ctx, s, args, func(rows *sqlx.Rows) error {
			var r R
			err := rows.StructScan(&r)
			all = append(all, r)
			return err
		})
	})
	return all, err
}

// values returns the first column of every row.
func values[V any](ctx context.Context, db *DB, s *Statement, args ...any) ([]V, error) {
	var all []V
	err := db.retry(ctx, func() error {
		all = nil
		return db.each(ctx, s, args, func(rows *sqlx.Rows) error {
			var v V
			err := rows.Scan(&v)
			all = append(all, v)
			return err
		})
	})
	return all, err
}

// one returns the only row as an R. It fails with not_found for the resource
// when there is none.
func one[R any](ctx context.Context, db *DB, resource string, s *Statement, args ...any) (R, error) {
	all, err := list[R](ctx, db, s, args...)
	var none R
	switch {
	case err != nil:
		return none, err
	case len(all) == 0:
		return none, core.NotFound(resource)
	}
	return all[0], nil
}

// exec runs a statement and returns how many rows it changed.
func (db *DB) exec(ctx context.Context, s *Statement, args ...any) (int, error) {
	var changed int64
	err := db.retry(ctx, func() error {
		stmt, err := db.stmt(ctx, s) //nolint:sqlclosecheck // the pool's or the transaction's, which close it
		if err != nil {
			return err
		}
		result, err := stmt.ExecContext(ctx, args...)
		if err == nil {
			changed, err = result.RowsAffected()
		}
		if err != nil {
			return s.wrap(cause(ctx, err))
		}
		return nil
	})
	return int(changed), err
}

// insert runs an INSERT ... ON CONFLICT DO NOTHING. When nothing was inserted it
// fails with conflict, and the transaction stays usable on both engines.
func (db *DB) insert(ctx context.Context, taken *core.Error, s *Statement, args ...any) error {
	inserted, err := db.exec(ctx, s, args...)
	if err != nil {
		return err
	}
	if inserted == 0 {
		return taken
	}
	return nil
}

// change runs an UPDATE of one row. It fails with not_found for the resource
// when there was none.
func (db *DB) change(ctx context.Context, resource string, s *Statement, args ...any) error {
	changed, err := db.exec(ctx, s, args...)
	if err != nil {
		return err
	}
	if changed == 0 {
		return core.NotFound(resource)
	}
	return nil
}

var errInTransaction = errors.New("storage: this call needs a transaction of its own and was made inside one")
