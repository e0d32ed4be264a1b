package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/site"
)

// visitsOf returns visits of the people on the website, within the last week.
func visitsOf(people []person, now time.Time) []activities.Activity {
	pages := []string{"/", "/coffees/sidamo", "/coffees/huila", "/brewing/pour-over", "/tastings"}
	var visits []activities.Activity
	for i, p := range people {
		if i%7 != 3 {
			continue
		}
		at := now.Add(-time.Duration(i%168)*time.Hour - time.Duration(i%60)*time.Minute).Truncate(time.Second)
		visits = append(visits, activities.Activity{
			ID: core.NewID(), ContactID: p.ID, Name: "site_visit", OccurredAt: at, ReceivedAt: at, Source: activities.FromSite,
			Properties: fmt.Appendf(nil, `{"path":%q,"referrer":"https://www.example.com/","title":"Fernhill Coffee","utm_source":"newsletter"}`, pages[i/7%len(pages)]),
		})
	}
	return visits
}

// openWebsite creates the site key of the demo, and counts of beacons as a website leaves them
// whose developer has misspelled the name of an event.
func (s Seeder) openWebsite(ctx context.Context, orgID string, now time.Time) error {
	if _, err := (site.Settings{Store: s.DB.Site(), Clock: s.Clock}).Create(ctx, orgID); err != nil {
		return fmt.Errorf("site key: %w", err)
	}
	var counts []site.DayCount
	for day := range 7 {
		at := now.AddDate(0, 0, -day)
		for _, c := range []site.Count{
			{Outcome: site.Written, Beacons: int64(60 + 11*day%40)},
			{Outcome: site.Duplicate, Beacons: int64(day % 3)},
			{Outcome: site.UnknownVisitor, Beacons: int64(day % 2)},
			{Outcome: site.BadName, Name: "site_Add-To-Cart", Beacons: int64(3 + day)},
		} {
			c.LastAt = at.Add(-time.Duration(20+day) * time.Minute)
			if c.Beacons > 0 {
				counts = append(counts, site.DayCount{OrgID: orgID, Day: at, Count: c})
			}
		}
	}
	return s.DB.Site().AddSiteCounts(ctx, counts)
}
