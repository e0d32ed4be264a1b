package segments

import (
	"context"
	"database/sql"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// conditionOn returns the condition of a segment query for the engine of db.
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

// matchingContacts returns the ids of the contacts that match the segment query, in no
// particular order.
func matchingContacts(ctx context.Context, db *engine.DB, q *segments.Question) ([]string, error) {
	c, err := conditionOn(db, q)
	if err != nil {
		return nil, err
	}
	return engine.Rows(ctx, db, c.query("matching contacts", c.selectQuery(`s.contact_id`)), scanID)
}

func scanID(rows *sql.Rows) (string, error) {
	var id string
	err := rows.Scan(&id)
	return id, err
}

// count runs the query, which must select a single number, and returns that number.
func (s MemberStore) count(ctx context.Context, q engine.Composed) (int, error) {
	counts, err := engine.Rows(ctx, s.db, q, func(rows *sql.Rows) (int, error) {
		var n int
		err := rows.Scan(&n)
		return n, err
	})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
