package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var _ messages.Purger = Store{}

var (
	purgeMarks = engine.Register("purge report marks", `
		DELETE FROM report_marks WHERE org_id = $1 AND mark IN (
			SELECT mark FROM report_marks WHERE org_id = $1 AND mark < $2 ORDER BY mark LIMIT $3)`)
	purgeHours = engine.Register("purge report hours", `
		DELETE FROM report_hours WHERE org_id = $1 AND (hour, channel, identity, template) IN (
			SELECT hour, channel, identity, template FROM report_hours WHERE org_id = $1 AND hour < $2
			ORDER BY hour, channel, identity, template LIMIT $3)`)
	purgeDays = engine.Register("purge report days", `
		DELETE FROM report_days WHERE org_id = $1 AND day < $2`)
	purgeBounceDomains = engine.Register("purge bounces by domain", `
		DELETE FROM report_bounce_domains WHERE org_id = $1 AND day < $2`)
)

// Purge deletes report figures and marks that are older than the time in before, and
// returns the number of deleted rows. It deletes at most limit marks and limit rows of
// hourly figures. It deletes all old daily figures, because they are few. A mark (the key
// of a unique open or click) begins with its day, so marks sort by time.
func (s Store) Purge(ctx context.Context, orgID string, before time.Time, limit int) (int, error) {
	purged, err := s.db.Exec(ctx, purgeMarks, orgID, reports.MarkDay(before), limit)
	if err != nil {
		return 0, err
	}
	hours, err := s.db.Exec(ctx, purgeHours, orgID, engine.At(before), limit)
	if err != nil {
		return 0, err
	}
	purged += hours
	for _, statement := range []*engine.Statement{purgeDays, purgeBounceDomains} {
		n, err := s.db.Exec(ctx, statement, orgID, engine.At(before))
		if err != nil {
			return 0, err
		}
		purged += n
	}
	return purged, nil
}
