package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Overview is how sending went in the last whole days and today, for a person.
type Overview struct {
	// From is the first midnight of the window, UTC.
	From   time.Time
	Totals Counts
	// Rates are exact: the code that writes them rounds them, once.
	Rates Rates
	// Days are all days of the window, oldest first, those without events too.
	Days     []DayCounts
	Warnings []Warning
	// Domains are those with the most bounces, most first.
	Domains []DomainBounces
	// Bounces are the newest, newest first, with the recipients masked.
	Bounces []Bounce
}

const (
	shownDomains = 10
	shownBounces = 10
)

// Overview sums up the last days, of which today is one. Recipients are masked
// unless the reader may see them.
func (r *Reports) Overview(ctx context.Context, orgID string, days int, unmasked bool) (Overview, error) {
	now := r.Clock()
	window := core.LastDays(now, days)
	o := Overview{From: window.From}
	found, err := r.read(ctx, orgID, Filter{Window: window}, now, wanted{days: true})
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
