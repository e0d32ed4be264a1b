package storage

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/mailhelm/mailhelm/core/segments"
)

// condition is the SQL of the question.
func (db *DB) condition(q *segments.Question) (condition, error) {
	contacts := ""
	if q.Contacts != nil {
		var err error
		if contacts, err = jsonParameter(q.Contacts); err != nil {
			return condition{}, err
		}
	}
	return db.engine.conditionOf(q, contacts)
}

// matching are the ids of the contacts that are in, in no order.
func (db *DB) matching(ctx context.Context, q *segments.Question) ([]string, error) {
	c, err := db.condition(q)
	if err != nil {
		return nil, err
	}
	text, args := numbered(c.selecting(`s.contact_id`), c.args)
	return composed(ctx, db, "matching contacts", text, args, scanID)
}

func scanID(rows *sql.Rows) (string, error) {
	var id string
	err := rows.Scan(&id)
	return id, err
}

// composed runs SQL that was put together for one call, in the transaction of ctx or
// on a connection that reads. It is not prepared, so PostgreSQL plans it for its very
// values.
func composed[R any](ctx context.Context, db *DB, name, text string, args []any, scan func(*sql.Rows) (R, error)) ([]R, error) {
	var all []R
	err := db.retry(ctx, func() error {
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
		rows, err := query(ctx, db.engine.text(text), args...)
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
