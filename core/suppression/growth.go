package suppression

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// growthDays is the number of days that a [Growth] covers, including today.
	growthDays = 7
	// notableGrowth is the minimum number of addresses of a notable [Growth]. Most audiences
	// lose a few addresses in a week.
	notableGrowth = 10
	// mostGrowth is the maximum number of changed entries that are read.
	mostGrowth = 200
)

// Growth is how many addresses became undeliverable in the last seven days: today and the six
// days before, in UTC.
type Growth struct {
	// Listed is the number of these addresses. It does not count addresses that were on the
	// list before, or that were excluded since.
	Listed int
	// More is true if there may be more than Listed, because too many entries changed to read
	// all of them.
	More bool
}

// Notable reports whether the growth needs attention before the next send: ten addresses or
// more.
func (g Growth) Notable() bool { return g.Listed >= notableGrowth }

// Growth returns how many addresses of the organization became undeliverable lately.
func (s *Suppression) Growth(ctx context.Context, orgID string) (Growth, error) {
	since := core.LastDays(s.Clock(), growthDays).From
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
