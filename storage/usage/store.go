package usage

import (
	"context"

	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// usageStore is [usage.Store].
type usageStore struct{ db *engine.DB }

// New returns the store of the numbers of calls on the database.
func New(db *engine.DB) usage.Store { return usageStore{db} }

// usageRow is a sum over the days of one client, person and operation.
type usageRow struct {
	ClientID  string      `db:"client_id"`
	UserID    string      `db:"user_id"`
	Operation string      `db:"operation"`
	Calls     int64       `db:"calls"`
	Confirmed int64       `db:"confirmed"`
	Asked     int64       `db:"asked"`
	Refused   int64       `db:"refused"`
	Failed    int64       `db:"failed"`
	LastAt    engine.Time `db:"last_at"`
}

var (
	addUsage = engine.Register("add tool usage", `
		INSERT INTO tool_usage (org_id, client_id, user_id, operation, day, calls, confirmed, asked, refused, failed, last_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (org_id, client_id, user_id, operation, day) DO UPDATE SET
			calls = tool_usage.calls + excluded.calls, confirmed = tool_usage.confirmed + excluded.confirmed,
			asked = tool_usage.asked + excluded.asked, refused = tool_usage.refused + excluded.refused,
			failed = tool_usage.failed + excluded.failed,
			last_at = CASE WHEN excluded.last_at > tool_usage.last_at THEN excluded.last_at ELSE tool_usage.last_at END`)
	// sumUsage sums the rows from a day on. It reads them by the index tool_usage_by_day; the
	// days of the retention bound their number.
	sumUsage = engine.Register("tool usage", `
		SELECT client_id, user_id, CASE WHEN $1 THEN '' ELSE operation END AS operation, CAST(sum(calls) AS bigint) AS calls, CAST(sum(confirmed) AS bigint) AS confirmed,
			CAST(sum(asked) AS bigint) AS asked, CAST(sum(refused) AS bigint) AS refused, CAST(sum(failed) AS bigint) AS failed, max(last_at) AS last_at
		FROM tool_usage
		WHERE org_id = $2 AND day >= $3 AND ($4 = '' OR user_id = $4) AND ($5 = '' OR client_id = $5)
		GROUP BY 1, 2, 3
		ORDER BY calls DESC, 1, 2, 3 LIMIT $6`)
)

func (s usageStore) AddUsage(ctx context.Context, rows []usage.Row) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		for _, r := range rows {
			if _, err := s.db.Exec(ctx, addUsage, r.OrgID, r.ClientID, r.UserID, r.Operation, engine.At(r.Day),
				r.Calls, r.Confirmed, r.Asked, r.Refused, r.Failed, engine.At(r.LastAt)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s usageStore) Usage(ctx context.Context, orgID string, f usage.Filter) ([]usage.Row, error) {
	row := func(r usageRow) usage.Row {
		return usage.Row{OrgID: orgID, ClientID: r.ClientID, UserID: r.UserID, Operation: r.Operation, Counts: usage.Counts{
			Calls: r.Calls, Confirmed: r.Confirmed, Asked: r.Asked, Refused: r.Refused, Failed: r.Failed, LastAt: r.LastAt.Time(),
		}}
	}
	return engine.ListAs(ctx, s.db, row, sumUsage, f.Totals, orgID, engine.At(f.Since), f.UserID, f.ClientID, f.Limit)
}
