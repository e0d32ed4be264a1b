package engine

import (
	"context"
	"database/sql"
	"fmt"
)

// Composed runs SQL that was put together for one call, in the transaction of ctx or
// on a connection that reads. It is not prepared, so PostgreSQL plans it for its very
// values.
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
		defer func() { _ = rows.Close() }() // rows.Err has told what there is to tell
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
