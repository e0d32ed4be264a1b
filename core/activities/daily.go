package activities

import (
	"context"
	"time"
)

// maxCounted is the maximum number of activities that DailyCounts reads.
const maxCounted = 50_000

// DayCount is the number of activities with one name on one day.
type DayCount struct {
	Day   time.Time // midnight UTC
	Name  string
	Count int
}

// DailyCounts returns the number of activities of each name on each of the last days, today
// included, in no order. A pair without activities has no entry. If the organization has
// more than 50,000 activities in these days, DailyCounts returns false and no counts, so
// that the read stays cheap.
func (a *Activities) DailyCounts(ctx context.Context, orgID string, retentionDays, days int) ([]DayCount, bool, error) {
	now := a.Clock()
	since := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	counts, err := a.Store.DailyCounts(ctx, orgID, since, keptSince(now, retentionDays), maxCounted+1)
	total := 0
	for _, c := range counts {
		total += c.Count
	}
	if err != nil || total > maxCounted {
		return nil, false, err
	}
	return counts, true, nil
}

// ContactAddresses returns the addresses of contacts by the contact's id. Ids without a
// contact are skipped. The caller checks that addresses may be shown.
func (a *Activities) ContactAddresses(ctx context.Context, orgID string, ids []string) (map[string]string, error) {
	return a.Store.ContactAddresses(ctx, orgID, ids)
}
