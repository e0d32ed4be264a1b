package domainauth

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// purgedDays is how many days of figures one transaction deletes.
const purgedDays = 7

var (
	idsOfDomains = engine.Register("ids of domain authentication domains", `
		SELECT id FROM domainauth_domains WHERE org_id = $1 ORDER BY id`)
	// lastOldRow finds the last one of the oldest rows, so that the primary key finds the rows to
	// delete. PostgreSQL needs the comparison of the day alone to leave out partitions. With it
	// SQLite would read all rows of the last day.
	lastOldRow = engine.Register("last of the oldest rows of reports", `
		SELECT day, report, n FROM (
			SELECT day, report, n FROM domainauth_rows WHERE org_id = $1 AND domain_id = $2 AND day < $3 ORDER BY day, report, n LIMIT $4) AS oldest
		ORDER BY day DESC, report DESC, n DESC LIMIT 1`)
	deleteOldRows = engine.Register("delete oldest rows of reports", `
		DELETE FROM domainauth_rows WHERE org_id = $1 AND domain_id = $2 /*pg AND day <= $3*/ AND (day, report, n) <= ($3, $4, $5)`)
	deleteOldReports = engine.Register("delete oldest reports", `
		DELETE FROM domainauth_reports WHERE org_id = $1 AND id IN (
			SELECT id FROM domainauth_reports WHERE org_id = $1 AND domain_id = $2 AND day < $3 AND state = 'counted' LIMIT $4)`)
	deleteOldSources = engine.Register("delete oldest sources", `
		DELETE FROM domainauth_sources WHERE org_id = $1 AND domain_id = $2 AND id IN (
			SELECT id FROM domainauth_sources
			WHERE org_id = $1 AND domain_id = $2 AND last_day < $3 AND decision NOT IN ('confirmed', 'rejected') LIMIT $4)`)
	deleteOldRuns = engine.Register("delete oldest runs of records", `
		DELETE FROM domainauth_records WHERE org_id = $1 AND domain_id = $2 AND (subject, first_seen_at) IN (
			SELECT r.subject, r.first_seen_at FROM domainauth_records AS r
			WHERE r.org_id = $1 AND r.domain_id = $2 AND r.last_seen_at < $3 AND EXISTS (
				SELECT 1 FROM domainauth_records AS later
				WHERE later.org_id = r.org_id AND later.domain_id = r.domain_id AND later.subject = r.subject AND later.first_seen_at > r.first_seen_at)
			LIMIT $4)`)
	refreshPurged = engine.Register("refresh purged domain", `
		UPDATE domainauth_domains SET refresh_at = $1 WHERE org_id = $2 AND id = $3`)
)

// byDay has the statements for the tables of figures by day: one finds the oldest day, one
// deletes days.
type byDay struct{ oldest, delete *engine.Statement }

func purgeByDay(table, day string) byDay {
	return byDay{
		oldest: engine.Register("oldest day of "+table, `
			SELECT `+day+` FROM `+table+` WHERE org_id = $1 AND domain_id = $2 ORDER BY `+day+` LIMIT 1`),
		delete: engine.Register("delete oldest days of "+table, `
			DELETE FROM `+table+` WHERE org_id = $1 AND domain_id = $2 AND `+day+` < $3`),
	}
}

var (
	purgeDaily        = purgeByDay("domainauth_daily", "day")
	purgeTotals       = purgeByDay("domainauth_totals", "day")
	purgeReporterDays = purgeByDay("domainauth_reporter_days", "day")
	purgeMonthly      = purgeByDay("domainauth_monthly", "month")
)

// DomainIDs implements [measuring.PurgeStore].
func (s Measuring) DomainIDs(ctx context.Context, orgID string) ([]string, error) {
	return engine.Values[string](ctx, s.db, idsOfDomains, orgID)
}

// PurgeDomain implements [measuring.PurgeStore].
func (s Measuring) PurgeDomain(ctx context.Context, orgID, domainID string, l measuring.Limits, now time.Time, limit int) (bool, error) {
	rows, kept := dayNumber(l.Rows), dayNumber(l.Figures)
	more, err := s.purgeRows(ctx, orgID, domainID, rows, limit)
	if err != nil {
		return false, err
	}
	var deleted int
	for _, table := range []struct {
		byDay
		before int64
	}{{purgeDaily, kept}, {purgeTotals, kept}, {purgeReporterDays, kept}, {purgeMonthly, monthNumber(kept)}} {
		n, again, err := s.purgeDays(ctx, orgID, domainID, table.byDay, table.before)
		if err != nil {
			return false, err
		}
		deleted, more = deleted+n, more || again
	}
	for _, one := range []struct {
		statement *engine.Statement
		before    any
	}{{deleteOldReports, kept}, {deleteOldSources, kept}, {deleteOldRuns, engine.At(l.Figures)}} {
		n, err := s.db.Exec(ctx, one.statement, orgID, domainID, one.before, limit)
		if err != nil {
			return false, err
		}
		deleted, more = deleted+n, more || n == limit
	}
	if deleted > 0 {
		_, err = s.db.Exec(ctx, refreshPurged, engine.At(now), orgID, domainID)
	}
	return more, err
}

// rowKey is the end of the key of a row of a report.
type rowKey struct {
	Day    int64  `db:"day"`
	Report string `db:"report"`
	N      int64  `db:"n"`
}

// purgeRows deletes the oldest rows before a day. It reports whether there may be more.
func (s Measuring) purgeRows(ctx context.Context, orgID, domainID string, before int64, limit int) (bool, error) {
	last, err := engine.List[rowKey](ctx, s.db, lastOldRow, orgID, domainID, before, limit)
	if err != nil || len(last) == 0 {
		return false, err
	}
	n, err := s.db.Exec(ctx, deleteOldRows, orgID, domainID, last[0].Day, last[0].Report, last[0].N)
	return n >= limit, err
}

// purgeDays deletes the oldest days of a table before a day. It reports whether there are more.
func (s Measuring) purgeDays(ctx context.Context, orgID, domainID string, table byDay, before int64) (int, bool, error) {
	oldest, err := engine.Values[int64](ctx, s.db, table.oldest, orgID, domainID)
	if err != nil || len(oldest) == 0 || oldest[0] >= before {
		return 0, false, err
	}
	end := min(before, oldest[0]+purgedDays)
	n, err := s.db.Exec(ctx, table.delete, orgID, domainID, end)
	return n, end < before, err
}
