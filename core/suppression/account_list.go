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
	// listLife is the maximum age of a cached answer from an account's list, counted from
	// the start of its read.
	listLife = 60 * time.Second
	// maxPagesACall is the maximum number of pages that one call reads. The next call
	// continues after them.
	maxPagesACall = 50
	// maxRemembered is the maximum number of cached entries, over all organizations.
	maxRemembered = 500_000
)

// span is a range of an account's list by the time of adding: from since, inclusive, to
// until, exclusive. A zero time leaves that end open.
type span struct{ since, until time.Time }

func (s span) holds(at time.Time) bool {
	return (s.since.IsZero() || !at.Before(s.since)) && (s.until.IsZero() || at.Before(s.until))
}

// requestBounds returns the bounds to request from the account. They are wider than the
// span, because providers store whole seconds and do not say whether bounds are
// inclusive.
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

// accountLists reads the lists of accounts and caches every part for listLife. One
// caller reads a part at a time; others wait for its result. Pages that a caller has
// read stay cached when it gives up or fails, so the next caller continues after them.
type accountLists struct {
	source sending.Suppressions
	clock  core.Clock

	mu    sync.Mutex
	parts map[listKey]*listPart
}

// listPart is the cached state of one part of a list.
type listPart struct {
	turn chan struct{} // holds one token, which the reading call takes

	begun    time.Time // zero when nothing was read
	token    string
	entries  []sending.Suppressed // when complete: sorted newest first, and immutable
	complete bool
	size     int // len(entries), guarded by the lock of accountLists
}

func newAccountLists(source sending.Suppressions, clock core.Clock) *accountLists {
	return &accountLists{source: source, clock: clock, parts: map[listKey]*listPart{}}
}

// reading has the number of pages that one call may still read.
type reading struct {
	lists *accountLists
	org   string
	pages int
}

func (l *accountLists) reading(org string) *reading { return &reading{l, org, maxPagesACall} }

// readAll returns every entry of the span, newest first.
func (r *reading) readAll(ctx context.Context, s span) ([]sending.Suppressed, error) {
	entries, complete, err := r.part(ctx, s, r.pages)
	if err == nil && !complete {
		err = stillReading()
	}
	return entries, err
}

// part reads at most the given number of further pages of the span. The entries are
// sorted only if complete is true.
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
	if err != nil {
		return part.readFailure(err)
	}
	for _, entry := range page {
		if s.holds(entry.At) {
			part.entries = append(part.entries, entry)
		}
	}
	if next == "" || next == part.token {
		part.entries, part.complete = sortNewestFirst(part.entries), true
	}
	part.token = next
	return r.lists.addSize(part)
}

// readFailure returns the error for the caller of a failed read. After throttling or a
// timeout it keeps the position, so that the same page can be requested again. Otherwise
// the next call reads from the start, for example because the account no longer accepts
// the position.
func (p *listPart) readFailure(err error) error {
	f, ok := errors.AsType[*sending.Failure](err)
	if ok && (f.Kind == sending.Throttled || f.Kind == sending.TimedOut) {
		return sending.Unavailable(err)
	}
	resumed := p.token != ""
	p.refresh(p.begun.Add(listLife))
	if ok && f.Kind == sending.Invalid && resumed {
		return stillReading()
	}
	return sending.Unavailable(err)
}

// refresh clears the part if it is older than listLife.
func (p *listPart) refresh(now time.Time) {
	if p.begun.IsZero() || now.Sub(p.begun) >= listLife || now.Before(p.begun) {
		p.begun, p.token, p.entries, p.complete = now, "", nil, false
	}
}

// cachedPart returns the cached part with the key. For a new part it first removes
// expired ones.
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

// sweep removes expired parts, except those that a call is reading.
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

// addSize updates the size of the part. If the cache is too large, it removes all other
// parts that no call reads. It fails if the part alone is too large.
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
		return tooLong()
	}
	return nil
}

// sortNewestFirst sorts the entries. Of an address that occurs twice, because the list
// changed during the read, it keeps the newest entry.
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

// compareNewest compares entries for the order of lists: newest first, then by id,
// descending.
func compareNewest(a, b sending.Suppressed) int {
	if order := b.At.Compare(a.At); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(suppressedID(b), suppressedID(a)), strings.Compare(b.Email, a.Email))
}

func suppressedID(e sending.Suppressed) string { return entryID(AddressKey(e.Email)) }

func stillReading() error {
	return &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: time.Second,
		Message: "The account's list is long and was not read to its end yet.",
		Next:    "Repeat the call to continue where this one stopped, or request a shorter window.",
	}
}

func tooLong() error {
	return &core.Error{
		Code: core.CodeUpstreamUnavailable, RetryAfter: listLife,
		Message: "The account's suppression list is too long to read completely.",
		Next:    "Ask for a shorter time.",
	}
}
