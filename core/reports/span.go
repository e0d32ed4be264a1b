package reports

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const day = 24 * time.Hour

// span is a window cut at its first and last midnight, UTC.
type span struct {
	// days are whole, empty when From is not before To.
	days core.Window
	// parts are of one day each, at most two, and never empty.
	parts []core.Window
}

// cut takes a window apart.
func cut(w core.Window) span {
	days, parts := cutAt(core.Window{From: w.From.UTC().Truncate(time.Microsecond), To: w.To.UTC().Truncate(time.Microsecond)}, day)
	return span{days, parts}
}

// rest is what the last day of a window has left, empty when From is not before To.
func rest(w core.Window) core.Window {
	to := w.To.UTC().Truncate(time.Microsecond)
	return core.Window{From: to, To: nextMidnight(to)}
}

// cutAtHours takes a part of a day apart into its whole hours and what is left.
func cutAtHours(w core.Window) (hours core.Window, minutes []core.Window) { //nolint:nonamedreturns // says which is which
	return cutAt(w, time.Hour)
}

// cutAt takes a window apart into what lies between multiples of a unit, empty
// when From is not before To, and the at most two parts that are left.
func cutAt(w core.Window, unit time.Duration) (core.Window, []core.Window) {
	whole := core.Window{From: w.From.Add(unit - 1).Truncate(unit), To: w.To.Truncate(unit)}
	if whole.From.After(whole.To) {
		return whole, []core.Window{w}
	}
	var parts []core.Window
	if w.From.Before(whole.From) {
		parts = append(parts, core.Window{From: w.From, To: whole.From})
	}
	if whole.To.Before(w.To) {
		parts = append(parts, core.Window{From: whole.To, To: w.To})
	}
	return whole, parts
}

// nextMidnight is t itself when it is one.
func nextMidnight(t time.Time) time.Time { return dayOf(t.Add(day - 1)) }

// Period is how long a point of a report is.
type Period string

// The periods. Weeks begin on Monday, and all begin at midnight UTC.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// of is the start of the period that t is in.
func (p Period) of(t time.Time) time.Time {
	midnight := dayOf(t)
	switch p {
	case Week:
		sinceMonday := (int(midnight.Weekday()) + 6) % 7
		return midnight.AddDate(0, 0, -sinceMonday)
	case Month:
		return midnight.AddDate(0, 0, 1-midnight.Day())
	default:
		return midnight
	}
}
