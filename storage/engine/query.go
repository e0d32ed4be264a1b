package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
	"github.com/mailhelm/mailhelm/core"
)

// columns maps result columns to struct fields by the tag "db".
var columns = reflectx.NewMapper("db")

// preparedStatement is a statement that is ready to run: in the transaction of a context,
// or on a connection pool outside a transaction.
type preparedStatement struct {
	stmt *sql.Stmt // nil if the statement is sent as text
	on   interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}
	text string
	pass pass
	// pool is set if the statement runs outside a transaction.
	pool *pool
	// own is the transaction of a read of a transactional pool, else nil.
	own *sql.Tx
}

// leave gives back the connection. It must be called after the rows of the result are closed.
func (r preparedStatement) leave() {
	if r.own != nil {
		_ = r.own.Rollback() // a read leaves nothing to commit
	}
	r.pass.leave()
}

func (r preparedStatement) query(ctx context.Context, args []any) (*sql.Rows, error) {
	if r.stmt != nil {
		return r.stmt.QueryContext(ctx, args...)
	}
	return r.on.QueryContext(ctx, r.text, args...)
}

func (r preparedStatement) exec(ctx context.Context, args []any) (sql.Result, error) {
	if r.stmt != nil {
		return r.stmt.ExecContext(ctx, args...)
	}
	return r.on.ExecContext(ctx, r.text, args...)
}

// ready returns s ready to run. Outside a transaction it first waits until the gate permits
// the use of a connection. The caller must call the result's method leave.
func (db *DB) ready(ctx context.Context, s *Statement) (preparedStatement, error) {
	if t := db.transaction(ctx); t != nil {
		if err := db.runWaitingBefore(ctx, t, s); err != nil {
			return preparedStatement{}, err
		}
		return t.ready(ctx, s)
	}
	p := db.pool(ctx, s.writes)
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return preparedStatement{}, s.wrap(err)
	}
	if p.transactional {
		tx, err := p.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			pass.leave()
			return preparedStatement{}, unbegun{db.cause(ctx, s.wrap(err))}
		}
		return preparedStatement{on: tx, text: s.on(db.dialect), pass: pass, pool: p, own: tx}, nil
	}
	stmt, again := p.findPrepared(s)
	if stmt == nil && again {
		if stmt, err = p.prepare(ctx, s); err != nil {
			pass.leave()
			return preparedStatement{}, unbegun{db.cause(ctx, err)}
		}
	}
	return preparedStatement{stmt: stmt, on: p.sql, text: s.on(db.dialect), pass: pass, pool: p}, nil
}

// ready returns the statement s in a form that runs in the transaction. If s is not
// prepared, it is sent as text. If the transaction uses it again, it is prepared on the
// transaction's connection until the end of the transaction. Only then does the pool
// prepare it, because the pool prepares statements on another connection.
func (t *transaction) ready(ctx context.Context, s *Statement) (preparedStatement, error) {
	stmt, again := t.pool.findPrepared(s)
	if stmt != nil {
		return preparedStatement{stmt: t.tx.StmtContext(ctx, stmt)}, nil
	}
	text := s.on(t.pool.dialect)
	if !again {
		return preparedStatement{on: t.tx, text: text}, nil
	}
	own, noted := t.noted[s]
	if !noted {
		if t.noted == nil {
			t.noted = map[*Statement]*sql.Stmt{} // most transactions need none
		}
		t.noted[s] = nil
		return preparedStatement{on: t.tx, text: text}, nil
	}
	if own == nil {
		var err error
		// The end of the transaction closes the prepared statement.
		if own, err = t.tx.PrepareContext(t.db.statementContext(ctx, s), text); err != nil {
			return preparedStatement{}, t.db.wrapFailure(ctx, s, err)
		}
		t.noted[s] = own
	}
	return preparedStatement{stmt: own}, nil
}

// Each runs a statement and calls f for every row of the result. If a replica fails before the
// first row, Each runs the statement on the primary.
func (db *DB) Each(ctx context.Context, s *Statement, args []any, f func(*sqlx.Rows) error) error {
	called, err := db.each(ctx, s, args, f)
	if !called && isReplicaFailure(err) {
		_, err = db.each(ctx, s, args, f)
	}
	return err
}

// each is Each on one database. It reports whether it called f.
func (db *DB) each(ctx context.Context, s *Statement, args []any, f func(*sqlx.Rows) error) (called bool, err error) {
	ready, err := db.ready(ctx, s)
	if err != nil {
		return false, err
	}
	defer ready.leave()
	rows, err := ready.query(db.statementContext(ctx, s), args)
	if err != nil {
		return false, db.readFailure(ctx, s, ready.pool, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	scanner := &sqlx.Rows{Rows: rows, Mapper: columns}
	for rows.Next() {
		called = true
		if err := f(scanner); err != nil {
			return called, s.wrap(db.cause(ctx, err))
		}
	}
	if err := rows.Err(); err != nil {
		return called, db.readFailure(ctx, s, ready.pool, err)
	}
	db.replicaEnded(ctx, ready.pool, nil)
	if s.writes && ready.pool != nil {
		db.wrote(ctx)
		if err := db.unsure(ctx); err != nil {
			return called, s.wrap(db.cause(ctx, err))
		}
	}
	return called, nil
}

// readFailure returns the error of a statement that failed on the pool p, or in a transaction if p
// is nil.
func (db *DB) readFailure(ctx context.Context, s *Statement, p *pool, err error) error {
	if !db.replicaEnded(ctx, p, err) {
		return replicaFailure{s.wrap(err)}
	}
	return db.wrapFailure(ctx, s, err)
}

// wrapFailure returns the error of a failed statement. For a read it wraps the error in the
// type unbegun: the call has changed nothing, so it may run again.
func (db *DB) wrapFailure(ctx context.Context, s *Statement, err error) error {
	err = s.wrap(db.cause(ctx, err))
	if s.writes {
		return err
	}
	return unbegun{err}
}

// statementContext returns the context under which the statement s runs. On SQLite, a
// statement registered with RegisterPoint gets ctx without its cancellation. Every other
// statement gets ctx.
func (db *DB) statementContext(ctx context.Context, s *Statement) context.Context {
	if s.point && db.dialect == SQLite && ctx.Err() == nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// List returns every row of the result as an R, which must be a struct with "db" tags.
func List[R any](ctx context.Context, db *DB, s *Statement, args ...any) ([]R, error) {
	var all []R
	err := db.Retry(ctx, func() error {
		all = nil
		var of *layout
		var targets []any
		return db.Each(ctx, s, args, func(rows *sqlx.Rows) error {
			if of == nil {
				var err error
				if of, err = s.layoutOf(reflect.TypeFor[R](), rows.Rows); err != nil {
					return err
				}
				targets = make([]any, len(of.fields))
			}
			var empty R
			all = append(all, empty)
			of.setTargets(targets, reflect.ValueOf(&all[len(all)-1]).Elem())
			return rows.Scan(targets...)
		})
	})
	return all, err
}

// ListAs returns every row of the result as a T. R, the row, must be a struct with "db"
// tags. Without an error the result is never nil.
func ListAs[R, T any](ctx context.Context, db *DB, convert func(R) T, s *Statement, args ...any) ([]T, error) {
	return ListParsed(ctx, db, func(r R) (T, error) { return convert(r), nil }, s, args...)
}

// ListParsed is like [ListAs], for rows with text that must be parsed. It fails with the
// first error of parse.
func ListParsed[R, T any](ctx context.Context, db *DB, parse func(R) (T, error), s *Statement, args ...any) ([]T, error) {
	rows, err := List[R](ctx, db, s, args...)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(rows))
	for i, r := range rows {
		if all[i], err = parse(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Values returns the first column of every row of the result.
func Values[V any](ctx context.Context, db *DB, s *Statement, args ...any) ([]V, error) {
	var all []V
	err := db.Retry(ctx, func() error {
		all = nil
		return db.Each(ctx, s, args, func(rows *sqlx.Rows) error {
			var v V
			err := rows.Scan(&v)
			all = append(all, v)
			return err
		})
	})
	return all, err
}

// One returns the first row of the result as an R. Without a row it returns a NotFound
// error with the name in resource.
func One[R any](ctx context.Context, db *DB, resource string, s *Statement, args ...any) (R, error) {
	all, err := List[R](ctx, db, s, args...)
	var none R
	switch {
	case err != nil:
		return none, err
	case len(all) == 0:
		return none, core.NotFound(resource)
	}
	return all[0], nil
}

// Exec runs a statement and returns the number of rows that it changed.
func (db *DB) Exec(ctx context.Context, s *Statement, args ...any) (int, error) {
	var changed int64
	err := db.Retry(ctx, func() error {
		ready, err := db.ready(ctx, s)
		if err != nil {
			return err
		}
		defer ready.leave()
		result, err := ready.exec(ctx, args)
		if err == nil {
			changed, err = result.RowsAffected()
		}
		if ready.pool != nil { // outside of a transaction
			db.wrote(ctx)
			err = cmp.Or(err, db.unsure(ctx))
		}
		if err != nil {
			return s.wrap(db.cause(ctx, err))
		}
		return nil
	})
	return int(changed), err
}

// ExecRows runs a statement whose first parameter is the organization and whose second
// parameter is the rows; see [JSONParameter].
func ExecRows[T any](ctx context.Context, db *DB, s *Statement, orgID string, rows []T) error {
	parameter, err := JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, s, orgID, parameter)
	return err
}

// Insert runs an INSERT ... ON CONFLICT DO NOTHING. If no row was inserted, it returns the
// error in the parameter taken. The transaction can continue after that on both engines.
func (db *DB) Insert(ctx context.Context, taken *core.Error, s *Statement, args ...any) error {
	inserted, err := db.Exec(ctx, s, args...)
	if err != nil {
		return err
	}
	if inserted == 0 {
		return taken
	}
	return nil
}

// Change runs an UPDATE or DELETE of one row. If no row was changed, it returns a NotFound
// error with the name in resource.
func (db *DB) Change(ctx context.Context, resource string, s *Statement, args ...any) error {
	changed, err := db.Exec(ctx, s, args...)
	if err != nil {
		return err
	}
	if changed == 0 {
		return core.NotFound(resource)
	}
	return nil
}

// ErrInTransaction is the error of a call that needs a transaction of its own but was made
// inside one.
var ErrInTransaction = errors.New("storage: this call needs a transaction of its own and was made inside one")
