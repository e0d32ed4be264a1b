package membership

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// SinceSQL returns the statement that selects the lists or segments of one contact, with the
// times of entry. Its parameters are the organization and the contact. definitions is the
// table of lists or segments; the other parameters are those of PageSQL. The statement looks
// for the contact in each list or segment, because SQLite would otherwise read all members
// of the organization.
func SinceSQL(definitions, table, set, since string) string {
	return `SELECT m.` + set + ` AS set_id, m.` + since + ` AS since FROM ` + definitions + ` AS d CROSS JOIN ` + table + ` AS m
		WHERE d.org_id = $1 AND m.org_id = d.org_id AND m.` + set + ` = d.id AND m.contact_id = $2`
}

// entry is a result row of SinceSQL.
type entry struct {
	Set   string      `db:"set_id"`
	Since engine.Time `db:"since"`
}

// Since runs a statement of SinceSQL. It returns the times of entry by the ids of the lists
// or segments.
func Since(ctx context.Context, db *engine.DB, s *engine.Statement, orgID, contactID string) (map[string]time.Time, error) {
	rows, err := engine.List[entry](ctx, db, s, orgID, contactID)
	if err != nil {
		return nil, err
	}
	since := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		since[row.Set] = row.Since.Time()
	}
	return since, nil
}
