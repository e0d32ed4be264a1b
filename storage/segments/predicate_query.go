package segments

import (
	"context"
	"database/sql"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// conditionOn returns the SQL of the question.
func conditionOn(db *engine.DB, q *segments.Question) (condition, error) {
	contacts := ""
	if q.Contacts != nil {
		var err error
		if contacts, err = engine.JSONParameter(q.Contacts); err != nil {
			return condition{}, err
		}
	}
	return conditionOf(db.Dialect(), q, contacts)
}

// matching returns the ids of the matching contacts in no particular order.
func matching(ctx context.Context, db *engine.DB, q *segments.Question) ([]string, error) {
	c, err := conditionOn(db, q)
	if err != nil {
		return nil, err
	}
	text, args := numbered(c.selecting(`s.contact_id`), c.args)
	return engine.Composed(ctx, db, "matching contacts", text, args, scanID)
}

func scanID(rows *sql.Rows) (string, error) {
	var id string
	err := rows.Scan(&id)
	return id, err
}
