package comparison

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// The limits of comparisons.
const (
	// MinWindowDays is the smallest number of days of a side.
	MinWindowDays = 7
	// MaxWindowDays is the largest number of days of a side.
	MaxWindowDays = 30
	// DefaultWindowDays is the number of days of a side if a caller gives none.
	DefaultWindowDays = 14
	// MinMessages is the number of messages that each side needs for a delta.
	MinMessages = 100
	// guardBand is the time after a change that is on no side.
	guardBand = 48 * time.Hour
)

// ErrWindowDays means that the number of days of a side is out of range.
var ErrWindowDays = errors.New("comparison: window_days must be between 7 and 30")

// Input is what a comparison is computed from.
type Input struct {
	Now time.Time
	// Change is the event to compare around. It may be of any kind.
	Change timeline.Event
	// Events has the events of the domain. Those that change mail are other changes, except
	// Change itself; the rest is ignored.
	Events []timeline.Event
	// WindowDays is the number of days of a side, 0 for the default.
	WindowDays int
	// KeptFrom is the time from which storage has all figures. It is zero if none were
	// deleted.
	KeptFrom time.Time
	// Covered has the UTC days that reports cover (see [figures.DaysOfReport]), in any order.
	Covered []time.Time
	// Rows has the messages.
	Rows []figures.Row
	// Sources has the registered sources with their present classification and decision,
	// which are used on both sides.
	Sources []figures.Source
}

// Result is a comparison.
type Result struct {
	Before, After Side
	// Delta is nil if the sides must not be compared. NoDelta is the reason then.
	Delta   *Delta
	NoDelta NoDelta
	// AfterIncomplete reports whether days of After are not over.
	AfterIncomplete bool
	// AttributionDeclined reports whether another change happened between the beginning of
	// Before and the end of After, so that a difference could be of either.
	AttributionDeclined bool
	// Neighbours has these other changes, sorted by time, then by id.
	Neighbours []timeline.Event
	// Truncations has the days of both sides that were cut, in their order.
	Truncations []Truncation
}

// NoDelta is the reason for which a comparison has no delta. If several apply, it is the
// first in the order of the constants: the one that waiting changes least.
type NoDelta string

// The reasons.
const (
	AttributionDeclined NoDelta = "attribution_declined"
	AfterIncomplete     NoDelta = "after_incomplete"
	InsufficientVolume  NoDelta = "insufficient_volume"
)

// Delta is the side after a change less the side before it.
type Delta struct {
	// PassRate is the difference of the pass rates, from -1 to 1.
	PassRate float64
	// FailingPerDay and MessagesPerDay are differences of messages per counted day.
	FailingPerDay, MessagesPerDay float64
}

// Compare returns the figures on both sides of a change. It fails only with ErrWindowDays.
// The result depends on the input alone, and not on its order.
func Compare(in Input) (Result, error) {
	days := cmp.Or(in.WindowDays, DefaultWindowDays)
	if days < MinWindowDays || days > MaxWindowDays {
		return Result{}, ErrWindowDays
	}
	end, begin := figures.DayOf(in.Change.OccurredAt), firstDayAfterGuard(in.Change)
	before := Side{From: figures.AddDays(end, -days), To: end}
	after := Side{From: begin, To: figures.AddDays(begin, days)}
	r := Result{AfterIncomplete: after.To.After(figures.DayOf(in.Now))}
	earlier := earlierChanges(in, before.From)
	r.Neighbours = neighbours(in, before.From, after.To)
	r.AttributionDeclined = len(r.Neighbours) > 0
	var cutBefore, cutAfter []Truncation
	r.Before, cutBefore = measure(in, before, earlier)
	r.After, cutAfter = measure(in, after, nil)
	r.Truncations = append(cutBefore, cutAfter...)
	switch {
	case r.AttributionDeclined:
		r.NoDelta = AttributionDeclined
	case r.AfterIncomplete:
		r.NoDelta = AfterIncomplete
	case r.Before.Total < MinMessages || r.After.Total < MinMessages:
		r.NoDelta = InsufficientVolume
	default:
		r.Delta = &Delta{
			PassRate:       difference(r.After.PassRate(), r.Before.PassRate()),
			FailingPerDay:  difference(r.After.perDay(r.After.Failing), r.Before.perDay(r.Before.Failing)),
			MessagesPerDay: difference(r.After.perDay(r.After.Total), r.Before.perDay(r.Before.Total)),
		}
	}
	return r, nil
}

// firstDayAfterGuard returns the first UTC day that begins at the end of the guard band of a
// change or later.
func firstDayAfterGuard(e timeline.Event) time.Time {
	return firstWholeDay(e.OccurredAt.Add(guardBand))
}

// firstWholeDay returns the first UTC day that begins at t or later.
func firstWholeDay(t time.Time) time.Time {
	if d := figures.DayOf(t); !d.Equal(t) {
		return figures.AddDays(d, 1)
	}
	return figures.DayOf(t)
}

// isOther reports whether an event is a change other than the one to compare around.
func (in Input) isOther(e timeline.Event) bool {
	return e.Kind.ChangesMail() && e.ID != in.Change.ID
}

// neighbours returns the other changes from from to to, which is not part of it.
func neighbours(in Input, from, to time.Time) []timeline.Event {
	var all []timeline.Event
	for _, e := range in.Events {
		if in.isOther(e) && !e.OccurredAt.Before(from) && e.OccurredAt.Before(to) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b timeline.Event) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// earlierChanges returns the other changes before a time.
func earlierChanges(in Input, before time.Time) []timeline.Event {
	var all []timeline.Event
	for _, e := range in.Events {
		if in.isOther(e) && e.OccurredAt.Before(before) {
			all = append(all, e)
		}
	}
	return all
}

// difference returns a less b, rounded once. Both are known.
func difference(a, b figures.Ratio) float64 {
	exact := new(big.Rat).Sub(big.NewRat(a.Part, a.Whole), big.NewRat(b.Part, b.Whole))
	value, _ := exact.Float64()
	return value
}
