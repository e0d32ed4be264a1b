package segments

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// refreshEvery is how long the copy of the suppression list counts as fresh.
	refreshEvery = time.Minute
	// refreshOverlap is how far before the last read the next one begins, for entries that the
	// account lists late.
	refreshOverlap = 10 * time.Minute
)

// refreshes has the time at which the new entries of each organization's suppression list
// were last read in this process. It is safe for concurrent use. The zero value is empty.
type refreshes struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (r *refreshes) of(orgID string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[orgID]
}

func (r *refreshes) note(orgID string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]time.Time{}
	}
	r.last[orgID] = at
}

// RefreshSuppressed adds new entries of the sending account's suppression list to the copy,
// unless this process did so in the last minute. It calls the account. Entries that the
// account has removed stay in the copy until the next [Segments.Sweep]. An account without
// such a list changes nothing.
func (s *Segments) RefreshSuppressed(ctx context.Context, orgID string) error {
	now, last := s.Clock(), s.refreshed.of(orgID)
	if now.Sub(last) < refreshEvery {
		return nil
	}
	since := last.Add(-refreshOverlap)
	if last.IsZero() {
		since = now.Add(-SweepEvery - refreshOverlap) // a sweep has read the earlier ones
	}
	var keys []string
	for page, err := range sending.Pages(func(token string) ([]sending.Suppressed, string, error) {
		return s.Suppressions.SuppressedPage(ctx, orgID, since, time.Time{}, token)
	}) {
		if sending.IsAbsent(err) || sending.IsUnsupported(err) {
			break
		}
		if err != nil {
			return err
		}
		for _, entry := range page {
			keys = append(keys, core.EmailKey(entry.Email))
		}
	}
	slices.Sort(keys)
	if err := s.Changes.AddSuppressed(ctx, orgID, slices.Compact(keys)); err != nil {
		return err
	}
	s.refreshed.note(orgID, now)
	return nil
}
