package segments

import (
	"context"
	"database/sql"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// CountSource returns the number of rows of an event source, at most limit. It reads no
// more than limit rows.
func (s Store) CountSource(ctx context.Context, q segments.Question, source *predicate.EventSource, limit int) (int, error) {
	c := condition{dialect: s.db.Dialect(), now: q.Now, args: []any{q.OrgID, ""}, demanded: map[string]bool{}}
	from, where := `contact_slots AS s`, `s.org_id = `+orgParameter
	if source != nil {
		from, where, _ = c.events(source)
	}
	if c.fault != nil {
		return 0, c.fault
	}
	text, args := numbered(strings.Join([]string{
		`SELECT count(*) FROM (SELECT 1 AS one FROM`, from, `WHERE`, where, `LIMIT`, c.parameter(limit), `) AS counted`,
	}, " "), c.args)
	counts, err := engine.Composed(ctx, s.db, "rows of a predicate", text, args, func(rows *sql.Rows) (int, error) {
		var n int
		err := rows.Scan(&n)
		return n, err
	})
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
