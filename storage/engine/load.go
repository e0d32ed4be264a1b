package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// rowsAtOnce is the number of rows that one statement inserts on SQLite. The driver looks for each
// parameter among all parameters of the statement, so more rows take more time.
const rowsAtOnce = 8

// Load inserts many rows into a table, inside the transaction of ctx. The insert statement has one
// parameter for each column, in their order. PostgreSQL receives the rows with COPY, which takes a
// fraction of the time, SQLite with statements for several rows. Without a transaction, Load fails.
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
	if err := t.insertRows(ctx, insert, rows); err != nil {
		return insert.wrap(db.cause(ctx, err))
	}
	return nil
}

// insertRows inserts rows with as few statements as possible.
func (t *transaction) insertRows(ctx context.Context, s *Statement, rows [][]any) error {
	for len(rows) > 0 {
		n := rowsAtOnce
		if len(rows) < n {
			n = 1
		}
		done, err := t.insertEach(ctx, s, rows, n)
		if err != nil {
			return err
		}
		rows = rows[done:]
	}
	return nil
}

// insertEach inserts rows with a statement for n rows, as long as there are as many. It returns the
// number of inserted rows.
func (t *transaction) insertEach(ctx context.Context, s *Statement, rows [][]any, n int) (int, error) {
	stmt, err := t.tx.PrepareContext(ctx, severalRows(s.on(SQLite), len(rows[0]), n))
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // the transaction has no further use for it
	done := 0
	values := make([]any, 0, n*len(rows[0]))
	for ; len(rows)-done >= n; done += n {
		values = values[:0]
		for _, row := range rows[done : done+n] {
			values = append(values, row...)
		}
		if _, err := stmt.ExecContext(ctx, values...); err != nil {
			return done, err
		}
	}
	return done, nil
}

// severalRows returns an insert statement for a row with a number of columns as one for n rows. Its
// text must end with the list of parameters.
func severalRows(insert string, columns, n int) string {
	var text strings.Builder
	text.WriteString(insert)
	for parameter := columns; parameter < n*columns; parameter++ {
		separator := ", "
		if parameter%columns == 0 {
			separator = "), ("
			if parameter == columns { // the end of the first row is there
				separator = ", ("
			}
		}
		text.WriteString(separator + "$" + strconv.Itoa(parameter+1))
	}
	if n > 1 {
		text.WriteString(")")
	}
	return text.String()
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
