package suppression

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// listLife is the maximum age of a cached part of an account's suppression list, counted
	// from the start of its read.
	listLife = 60 * time.Second
	// maxPagesACall is the maximum number of pages of a suppression list that one API call
	// reads from the account. The next API call continues after these pages.
	maxPagesACall = 50
	// maxRemembered is the maximum number of cached list entries of all organizations
	// together.
	maxRemembered = 500_000
)

// span is the part of an account's list whose entries were added at or after since and
// before until. A zero time means no limit.
type span struct{ since, until time.Time }

func (s span) holds(at time.Time) bool {
	return (s.since.IsZero() || !at.Before(s.since)) && (s.until.IsZero() || at.Before(s.until))
}

// requestBounds returns the times to send to the account in a request for the span s. They
// are wider than s, because providers store whole seconds and do not document whether the
// bounds are inclusive.
func (s span) requestBounds() (since, until time.Time) {
	if !s.since.IsZero() {
		since = s.since.Truncate(time.Second).Add(-time.Second)
	}
	if !s.until.IsZero() {
		until = s.until.Truncate(time.Second).Add(2 * time.Second)
	}
	return since, until
}

type listKey struct {
	org  string
	span span
}

// accountLists reads the suppression lists of accounts and caches each part (see [span])
// for listLife. Only one call reads a part at a time; other calls wait for its result. If
// a call is cancelled, throttled or times out, the pages that it has read stay cached, and
// the next call continues after them. After other failures, the next call reads the part
// from its first page.
type accountLists struct {
	source sending.Suppressions
	clock  core.Clock

	mu    sync.Mutex
	parts map[listKey]*listPart
}

// listPart is the cached state of one part (see [span]) of an account's suppression list.
type listPart struct {
	turn chan struct{} // acts as a lock: it contains one value, which a call takes while it reads this part

	begun    time.Time // zero when nothing was read
	token    string
	entries  []sending.Suppressed // sorted newest first and never changed once complete is true
	complete bool
	size     int // len(entries), guarded by accountLists.mu
}

func newAccountLists(source sending.Suppressions, clock core.Clock) *accountLists {
	return &accountLists{source: source, clock: clock, parts: map[listKey]*listPart{}}
}

// reading is the state of one API call that reads an account's suppression list. pages is
// the number of pages that the API call may still read.
type reading struct {
	lists *accountLists
	org   string
	pages int
}

func (l *accountLists) newReading(org string) *reading { return &reading{l, org, maxPagesACall} }

// readAll returns all entries of the span s, newest first. One API call may read only
// r.pages pages of the list. If that is not enough, readAll fails with stillReadingError,
// and a later API call continues after the pages that are read.
func (r *reading) readAll(ctx context.Context, s span) ([]sending.Suppressed, error) {
	entries, complete, err := r.part(ctx, s, r.pages)
	if err == nil && !complete {
		err = stillReadingError()
	}
	return entries, err
}

// part reads at most the given number of further pages of the suppression list, limited to
// the span s. It returns all entries of s that it and earlier calls have read. complete is
// true if these are all entries of s; only then are they sorted.
func (r *reading) part(ctx context.Context, s span, pages int) (entries []sending.Suppressed, complete bool, err error) { //nolint:nonamedreturns // says which
	part := r.lists.cachedPart(listKey{r.org, s})
	select {
	case <-part.turn:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	defer func() { part.turn <- struct{}{} }()
	part.refresh(r.lists.clock())
	for ; !part.complete && pages > 0 && r.pages > 0; pages-- {
		r.pages--
		if err := r.page(ctx, part, s); err != nil {
			return nil, false, err
		}
	}
	return part.entries, part.complete, nil
}

// page reads the next page.
func (r *reading) page(ctx context.Context, part *listPart, s span) error {
	since, until := s.requestBounds()
	page, next, err := r.lists.source.SuppressedPage(ctx, r.org, since, until, part.token)
	if err == nil {
		err = sending.CheckNextToken(part.token, next)
	}
	if err != nil {
		return part.readFailure(err)
	}
	for _, entry := range page {
		if s.holds(entry.At) {
			part.entries = append(part.entries, entry)
		}
	}
	if next == "" {
		part.entries, part.complete = sortNewestFirst(part.entries), true
	}
	part.token = next
	return r.lists.addSize(part)
}

// readFailure returns the error to report if reading a page of the suppression list failed.
// After throttling or a timeout, the next call requests the same page again. After other
// failures, the next call reads from the first page, because the account may no longer
// accept the page token.
func (p *listPart) readFailure(err error) error {
	f, ok := errors.AsType[*sending.Failure](err)
	if ok && (f.Kind == sending.Throttled || f.Kind == sending.TimedOut) {
		return sending.Unavailable(err)
	}
	resumed := p.token != ""
	p.refresh(p.begun.Add(listLife))
	if ok && f.Kind == sending.Invalid && resumed {
		return stillReadingError()
	}
	return sending.Unavailable(err)
}

// refresh discards the cached entries of this part of the suppression list if they are
// listLife old or older, or if the clock was set back.
func (p *listPart) refresh(now time.Time) {
	if p.begun.IsZero() || now.Sub(p.begun) >= listLife || now.Before(p.begun) {
		p.begun, p.token, p.entries, p.complete = now, "", nil, false
	}
}

// cachedPart returns the part of a suppression list with this key from the cache. If the
// part is not cached, it adds an empty one, after removing the expired parts.
func (l *accountLists) cachedPart(key listKey) *listPart {
	l.mu.Lock()
	defer l.mu.Unlock()
	part, ok := l.parts[key]
	if !ok {
		l.sweep()
		part = &listPart{turn: make(chan struct{}, 1)}
		part.turn <- struct{}{}
		l.parts[key] = part
	}
	return part
}

// sweep removes the expired parts of suppression lists from the cache, except parts that a
// call is reading.
func (l *accountLists) sweep() {
	now := l.clock()
	for key, part := range l.parts {
		select {
		case <-part.turn:
			if now.Sub(part.begun) >= listLife {
				delete(l.parts, key)
			}
			part.turn <- struct{}{}
		default:
		}
	}
}

// addSize updates the size of the part. If the cache exceeds maxRemembered, it removes all
// parts that no call is reading. It fails if this part alone exceeds maxRemembered.
func (l *accountLists) addSize(part *listPart) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	part.size = len(part.entries)
	total := 0
	for _, other := range l.parts {
		total += other.size
	}
	if total <= maxRemembered {
		return nil
	}
	for key, other := range l.parts {
		select {
		case <-other.turn:
			delete(l.parts, key)
			other.turn <- struct{}{}
		default:
		}
	}
	if part.size > maxRemembered {
		part.begun = time.Time{}
		return tooLongError()
	}
	return nil
}

// sortNewestFirst sorts the entries and removes duplicates. An address can occur twice if
// the list changed while it was read; its newest entry is kept.
func sortNewestFirst(entries []sending.Suppressed) []sending.Suppressed {
	slices.SortFunc(entries, compareNewest)
	seen := make(map[string]bool, len(entries))
	return slices.DeleteFunc(entries, func(e sending.Suppressed) bool {
		key := AddressKey(e.Email)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// compareNewest compares two list entries for sorting: newest first, and entries of the
// same time by descending id.
func compareNewest(a, b sending.Suppressed) int {
	if order := b.At.Compare(a.At); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(suppressedID(b), suppressedID(a)), strings.Compare(b.Email, a.Email))
}

func suppressedID(e sending.Suppressed) string { return entryID(AddressKey(e.Email)) }

func stillReadingError() error {
	return &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: time.Second,
		Message: "The account's suppression list is long and not completely read yet.",
		Next:    "Repeat the call to continue where this one stopped, or request a shorter window.",
	}
}

func tooLongError() error {
	return &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: listLife,
		Message: "The account's suppression list is too long to read completely.",
		Next:    "Request a shorter window.",
	}
}
