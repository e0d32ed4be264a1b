package activities

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// dailyCounts counts the newest activities by day and name. A day is a number of days
	// since 1970. The limit of the inner query bounds the rows that are read.
	dailyCounts = engine.Register("daily counts of activities", `
		SELECT day, name, count(*) AS total FROM (
			SELECT (occurred_at - occurred_at % 86400000000) / 86400000000 AS day, name FROM activities
			WHERE org_id = $1 AND occurred_at >= $2 AND received_at >= $3
			ORDER BY occurred_at DESC LIMIT $4) AS newest
		GROUP BY day, name`)
	contactAddresses = engine.Register("addresses of contacts", `
		SELECT id, email FROM contacts WHERE org_id = $1 AND id IN (SELECT v ->> 'id' FROM `+engine.ParameterRows(`$2`)+`)`)
)

// dayRow is the number of activities with one name on one day.
type dayRow struct {
	Day   int64  `db:"day"`
	Name  string `db:"name"`
	Total int    `db:"total"`
}

// count converts the row to an activities.DayCount.
func (r dayRow) count() activities.DayCount {
	return activities.DayCount{Day: time.Unix(r.Day*86400, 0).UTC(), Name: r.Name, Count: r.Total}
}

func (s Store) DailyCounts(ctx context.Context, orgID string, since, received time.Time, limit int) ([]activities.DayCount, error) {
	return engine.ListAs(ctx, s.db, dayRow.count, dailyCounts, orgID, engine.At(since), engine.At(received), limit)
}

// addressRow is a contact with its address.
type addressRow struct {
	ID    string `db:"id"    json:"id"`
	Email string `db:"email" json:"-"`
}

func (s Store) ContactAddresses(ctx context.Context, orgID string, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return map[string]string{}, nil
	}
	wanted := make([]addressRow, len(ids))
	for i, id := range ids {
		wanted[i].ID = id
	}
	parameter, err := engine.JSONParameter(wanted)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[addressRow](ctx, s.db, contactAddresses, orgID, parameter)
	addresses := make(map[string]string, len(rows))
	for _, row := range rows {
		addresses[row.ID] = row.Email
	}
	return addresses, err
}
