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

// cut takes a window apart. A day that goes on as the window ends is whole: its
// later hours hold no events yet.
func cut(w core.Window, now time.Time) span {
	from, to := w.From.UTC().Truncate(time.Microsecond), w.To.UTC().Truncate(time.Microsecond)
	if !to.Before(now.Truncate(time.Microsecond)) {
		to = nextMidnight(to)
	}
	s := span{days: core.Window{From: nextMidnight(from), To: dayOf(to)}}
	if s.days.From.After(s.days.To) {
		s.parts = []core.Window{{From: from, To: to}}
		return s
	}
	if from.Before(s.days.From) {
		s.parts = append(s.parts, core.Window{From: from, To: s.days.From})
	}
	if s.days.To.Before(to) {
		s.parts = append(s.parts, core.Window{From: s.days.To, To: to})
	}
	return s
}

// nextMidnight is t itself when it is one.
func nextMidnight(t time.Time) time.Time {
	if midnight := dayOf(t); midnight.Before(t) {
		return midnight.Add(day)
	}
	return t
}

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
