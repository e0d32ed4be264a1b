package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// firstStretch is the length of the newest stretch of a long list. Each further
	// stretch is twice as long as the one before.
	firstStretch = 30 * 24 * time.Hour
	// stretches is the number of stretches before the rest, which is read as one.
	stretches = 7
)

// readNewest returns the first n entries of the span after the position, newest first, for
// which wanted is true. The account cannot sort by time. A list of one page is read
// whole. A longer list is read in stretches of time, from the newest backwards, until
// there are enough entries. A page of a list of hundreds of thousands thus takes a few
// calls.
func (r *reading) readNewest(ctx context.Context, s span, after *core.After, n int, wanted func(sending.Suppressed) bool) ([]sending.Suppressed, error) {
	keep := func(entries []sending.Suppressed) (kept []sending.Suppressed) { //nolint:nonamedreturns // grows
		for _, e := range entries {
			if len(kept) < n && isAfter(e, after) && wanted(e) {
				kept = append(kept, e)
			}
		}
		return kept
	}
	entries, complete, err := r.part(ctx, s, 1)
	if err != nil || complete {
		return keep(entries), err
	}
	var found []sending.Suppressed
	for _, stretch := range s.splitByTime(r.lists.clock(), after) {
		entries, err := r.readAll(ctx, stretch)
		if err != nil {
			return nil, err
		}
		found = append(found, keep(within(entries, s))...)
		if len(found) >= n {
			break
		}
	}
	return found[:min(n, len(found))], nil
}

func within(entries []sending.Suppressed, s span) []sending.Suppressed {
	var inside []sending.Suppressed
	for _, e := range entries {
		if s.holds(e.At) {
			inside = append(inside, e)
		}
	}
	return inside
}

func isAfter(e sending.Suppressed, after *core.After) bool {
	return after == nil || e.At.Before(after.At) || e.At.Equal(after.At) && suppressedID(e) < after.ID
}

// splitByTime splits the span, from the position where a page starts backwards. Stretches
// begin and end at midnight, so that the pages of one day share them.
func (s span) splitByTime(now time.Time, after *core.After) []span {
	until := now
	if !s.until.IsZero() && s.until.Before(now) {
		until = s.until
	}
	if after != nil && after.At.Before(until) {
		until = after.At
	}
	until = until.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	var cut []span
	// The first stretch has no end, because the account's clock may be ahead of ours.
	if first := (span{since: until}); after == nil && s.until.IsZero() {
		cut = append(cut, first)
	}
	for i := range stretches {
		since := until.Add(-firstStretch << i)
		cut = append(cut, span{since: since, until: until})
		if !s.since.IsZero() && !since.After(s.since) {
			return cut
		}
		until = since
	}
	return append(cut, span{since: s.since, until: until})
}
