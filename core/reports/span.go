package reports

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const day = 24 * time.Hour

// span is a window split into whole UTC days and the parts before and after them.
type span struct {
	// days is the part of the window that consists of whole UTC days. The window has none
	// when days.From is not before days.To.
	days core.Window
	// parts are the at most two partial days; none is empty.
	parts []core.Window
}

// cut splits a window at its first and last midnight, UTC.
func cut(w core.Window) span {
	days, parts := cutAt(core.Window{From: w.From.UTC().Truncate(time.Microsecond), To: w.To.UTC().Truncate(time.Microsecond)}, day)
	return span{days, parts}
}

// rest returns the time from the end of a window to the next midnight; empty when From
// is not before To.
func rest(w core.Window) core.Window {
	to := w.To.UTC().Truncate(time.Microsecond)
	return core.Window{From: to, To: nextMidnight(to)}
}

// cutAtHours splits a part of a day into its whole hours and the rest.
func cutAtHours(w core.Window) (hours core.Window, minutes []core.Window) { //nolint:nonamedreturns // says which is which
	return cutAt(w, time.Hour)
}

// cutAt splits a window into the range between multiples of a unit and the at most two
// parts outside it. The range is empty when From is not before To.
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

// nextMidnight returns the first midnight, UTC, that is not before t.
func nextMidnight(t time.Time) time.Time { return dayOf(t.Add(day - 1)) }

// Period is the length of time that a point of a report covers.
type Period string

// The periods. Weeks begin on Monday, and all begin at midnight UTC.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// startOf returns the start of the period that contains t.
func (p Period) startOf(t time.Time) time.Time {
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
