package segments

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
)

// CountSource counts the events that a predicate reads from one source, such as the
// purchases of the last 30 days. If source is nil, it counts active contacts. It stops
// counting at limit.
func (s MemberStore) CountSource(ctx context.Context, q segments.Question, source *predicate.EventSource, limit int) (int, error) {
	c := condition{dialect: s.db.Dialect(), now: q.Now, args: []any{q.OrgID, ""}, demanded: map[string]bool{}}
	from, where := `contact_slots AS s`, `s.org_id = `+orgParameter
	if source != nil {
		from, where, _ = c.events(source)
	}
	if c.fault != nil {
		return 0, c.fault
	}
	return s.count(ctx, c.query("rows of a predicate", strings.Join([]string{
		`SELECT count(*) FROM (SELECT 1 AS one FROM`, from, `WHERE`, where, `LIMIT`, c.parameter(limit), `) AS counted`,
	}, " ")))
}
