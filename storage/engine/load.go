package engine

import (
	"context"
	"fmt"
	"strings"
)

// Load inserts many rows into a table, inside the transaction of ctx. The insert statement has one
// parameter for each column, in their order; SQLite runs it for each row. PostgreSQL receives the
// rows with COPY, which takes a fraction of the time. Without a transaction, Load fails.
func (db *DB) Load(ctx context.Context, insert *Statement, table string, columns []string, rows [][]any) error {
	t := db.transaction(ctx)
	if t == nil {
		return fmt.Errorf("storage: %s: rows are loaded in a transaction", insert.name)
	}
	if err := db.runWaitingBefore(ctx, t, insert); err != nil {
		return err
	}
	if db.dialect == PostgreSQL {
		return t.copyRows(ctx, insert, table, columns, rows)
	}
	for _, row := range rows {
		ready, err := t.ready(ctx, insert)
		if err != nil {
			return err
		}
		if _, err := ready.exec(ctx, row); err != nil {
			return insert.wrap(db.cause(ctx, err))
		}
	}
	return nil
}

// copyRows sends rows with COPY.
func (t *transaction) copyRows(ctx context.Context, s *Statement, table string, columns []string, rows [][]any) (err error) {
	stmt, err := t.tx.PrepareContext(ctx, "COPY "+table+" ("+strings.Join(columns, ", ")+") FROM STDIN")
	if err != nil {
		return s.wrap(t.db.cause(ctx, err))
	}
	// The end of the copying reports what the server refuses.
	defer func() {
		if closeErr := stmt.Close(); err == nil && closeErr != nil {
			err = s.wrap(t.db.cause(ctx, closeErr))
		}
	}()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return s.wrap(t.db.cause(ctx, err))
		}
	}
	if _, err := stmt.ExecContext(ctx); err != nil { // sends what is buffered
		return s.wrap(t.db.cause(ctx, err))
	}
	return nil
}

// InSnapshot runs f in one transaction that only reads. All its statements see the database as it
// was at the first of them. Unlike InTx, it keeps no other process from writing on SQLite, where
// the log grows as long as f runs.
func (db *DB) InSnapshot(ctx context.Context, f func(ctx context.Context) error) error {
	if db.transaction(ctx) != nil {
		return ErrInTransaction
	}
	p := db.pool(ctx, false)
	pass, err := p.gate.enter(ctx)
	if err != nil {
		return fmt.Errorf("storage: begin: %w", err)
	}
	defer pass.leave()
	tx, err := p.sql.BeginTx(ctx, db.readOnly())
	if err != nil {
		return fmt.Errorf("storage: begin: %w", db.cause(ctx, err))
	}
	// The transaction changes nothing, so it is never committed.
	defer func() { _ = tx.Rollback() }()
	return f(context.WithValue(ctx, transactionKey{}, &transaction{db: db, pool: p, tx: tx}))
}
