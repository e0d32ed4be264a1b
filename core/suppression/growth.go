package suppression

import (
	"context"
	"fmt"
	"time"
)

const (
	// growthDays is the number of whole days before today of which a [Growth] counts
	// addresses, with today's.
	growthDays = 7
	// notableGrowth is the number of addresses from which on a [Growth] is notable. Most
	// audiences lose a few addresses in a week.
	notableGrowth = 10
	// mostGrowth is the number of changed entries that are looked at.
	mostGrowth = 200
)

// Growth is how many addresses became undeliverable today and on the seven days before, in
// UTC.
type Growth struct {
	// Listed is their number. It does not count addresses that were on the list before, or
	// that were excluded since.
	Listed int
	// More is true if there may be more of them, because too many entries changed to look at
	// each.
	More bool
}

// Notable reports whether the growth needs attention before the next send: ten addresses or
// more.
func (g Growth) Notable() bool { return g.Listed >= notableGrowth }

// Growth returns how many addresses of the organization became undeliverable lately.
func (s *Suppression) Growth(ctx context.Context, orgID string) (Growth, error) {
	since := s.Clock().UTC().Truncate(24*time.Hour).AddDate(0, 0, -growthDays)
	entries, err := s.Store.EntryPage(ctx, orgID, EntryFilter{Status: Listed, ChangedSince: since, Limit: mostGrowth + 1})
	if err != nil {
		return Growth{}, fmt.Errorf("undeliverable addresses: %w", err)
	}
	g := Growth{More: len(entries) > mostGrowth}
	for _, e := range entries[:min(mostGrowth, len(entries))] {
		if !e.FirstSeenAt.Before(since) {
			g.Listed++
		}
	}
	return g, nil
}
