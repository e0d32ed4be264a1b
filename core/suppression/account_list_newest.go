package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// firstStretch is the length of the newest time range in which a long list is read. Each
	// further range is twice as long as the one before.
	firstStretch = 30 * 24 * time.Hour
	// stretches is the number of time ranges of limited length, the newest of which has
	// the length firstStretch. All entries older than these ranges are read as one more
	// range.
	stretches = 7
)

// readNewest returns, newest first, at most n entries of the span s for which wanted
// returns true. If after is not nil, it returns only entries after that position of the
// sorted list. The account does not sort its list by time, so the newest entries are known
// only after all pages of a time range are read. readNewest first requests one page of s,
// which is enough for a short list. It reads a longer list in time ranges, from the newest
// backwards, until it has n entries. So a call for a very long list takes a few requests.
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

// splitByTime splits the span s into the time ranges in which it is read, newest first. If
// after is not nil, ranges with only newer entries than this position are left out. The
// ranges are cut at midnight (UTC), so that calls on one day use the same cached ranges.
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
	// The first range has no end, because the account's clock may be ahead of the clock of
	// this process.
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
