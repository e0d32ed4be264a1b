package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Overview has the statistics that the dashboard shows, for a number of days including
// today.
type Overview struct {
	// From is the midnight (UTC) at which the window begins.
	From   time.Time
	Totals Counts
	// Rates has the exact rates; the dashboard rounds them.
	Rates Rates
	// Days has the counts of each day of the window, oldest first, including days without
	// events.
	Days     []DayCounts
	Warnings []Warning
	// Domains has the recipients' domains with the most bounces, in descending order.
	Domains []DomainBounces
	// Bounces has the latest bounces, newest first. Recipients are masked unless the caller
	// may see them.
	Bounces []Bounce
}

const (
	shownDomains = 10
	shownBounces = 10
)

// Overview returns the statistics of the given number of days, including today. It masks
// recipients unless unmasked is true.
func (r *Reports) Overview(ctx context.Context, orgID string, days int, unmasked bool) (Overview, error) {
	now := r.Clock()
	window := core.LastDays(now, days)
	o := Overview{From: window.From}
	found, err := r.read(ctx, orgID, Filter{Window: window}, now, wantedFigures{days: true})
	if err != nil {
		return Overview{}, err
	}
	for i := range days {
		at := o.From.AddDate(0, 0, i)
		o.Days = append(o.Days, DayCounts{at, found.days[at]})
	}
	o.Totals = total(found.days)
	o.Rates, o.Warnings = o.Totals.rates(), warningsOf(o.Totals)
	if o.Domains, err = r.Store.FailingDomains(ctx, orgID, window, shownDomains); err != nil {
		return Overview{}, fmt.Errorf("failing domains: %w", err)
	}
	if o.Bounces, err = r.Store.RecentBounces(ctx, orgID, window, shownBounces); err != nil {
		return Overview{}, fmt.Errorf("recent bounces: %w", err)
	}
	for i := range o.Bounces {
		if !unmasked {
			o.Bounces[i].Recipient = core.MaskAddress(o.Bounces[i].Recipient)
		}
	}
	return o, nil
}
