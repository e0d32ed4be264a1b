package engine

import (
	"context"
	"database/sql"
	"fmt"
)

// Composed runs SQL that was composed for one call and returns every row as scan reads
// it. It uses the transaction of ctx, or else a read connection. The SQL is not prepared,
// so PostgreSQL plans it for the given values.
func Composed[R any](ctx context.Context, db *DB, name, text string, args []any, scan func(*sql.Rows) (R, error)) ([]R, error) {
	var all []R
	err := db.Retry(ctx, func() error {
		all = nil
		query := db.pool(ctx, false).sql.QueryContext
		if t := db.transaction(ctx); t != nil {
			query = t.tx.QueryContext
		} else {
			pass, err := db.pool(ctx, false).gate.enter(ctx)
			if err != nil {
				return err
			}
			defer pass.leave()
		}
		rows, err := query(ctx, db.dialect.Text(text), args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // rows.Err reports the errors
		for rows.Next() {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, row)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("storage: %s: %w", name, db.cause(ctx, err))
	}
	return all, nil
}
