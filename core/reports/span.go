package reports

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const day = 24 * time.Hour

// span is a window split into its whole UTC days and the partial days before and after
// them.
type span struct {
	// days covers the whole UTC days of the window. It is empty if days.From is not before
	// days.To.
	days core.Window
	// parts are the partial days at the beginning and the end of the window, at most two.
	// Each is longer than zero.
	parts []core.Window
}

// splitAtMidnight splits a window at the first and the last midnight (UTC) in it.
func splitAtMidnight(w core.Window) span {
	days, parts := cutAt(core.Window{From: w.From.UTC().Truncate(time.Microsecond), To: w.To.UTC().Truncate(time.Microsecond)}, day)
	return span{days, parts}
}

// rest returns the window from the end of w to the next midnight (UTC). It is empty if w
// ends at midnight.
func rest(w core.Window) core.Window {
	to := w.To.UTC().Truncate(time.Microsecond)
	return core.Window{From: to, To: nextMidnight(to)}
}

// splitAtHours splits a part of a day into its whole hours and the partial hours before and
// after them.
func splitAtHours(w core.Window) (hours core.Window, minutes []core.Window) { //nolint:nonamedreturns // says which is which
	return cutAt(w, time.Hour)
}

// cutAt splits a window at the first and the last multiple of unit in it. The first result
// is the part between these two times; it is empty if From is not before To. The second
// result has the parts before and after it, at most two.
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

// nextMidnight returns t if t is a midnight (UTC), else the next midnight.
func nextMidnight(t time.Time) time.Time { return dayOf(t.Add(day - 1)) }

// Period is the length of the periods into which a report is divided.
type Period string

// The periods of a report. Each day, week and month begins at midnight UTC. A week begins
// on Monday.
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
