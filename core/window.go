package core

import "time"

// Window is a span of time, From included and To not.
type Window struct{ From, To time.Time }

// defaultWindow is how far a window reaches back when its caller does not say.
const defaultWindow = 30 * 24 * time.Hour

// LastDays is the last n days, UTC, of which today is one, so far: the days that a
// person means who reads figures by the day.
func LastDays(now time.Time, n int) Window {
	return Window{From: now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n), To: now}
}

// WindowOf makes the window between from and to. Without to it ends now. Without from
// it begins 30 days before now, or before an earlier to, though not longer ago than the
// retention. It fails with validation_failed when from is not before to, and with
// plan_retention_exceeded when the window begins before what retentionDays keep: a
// window is never narrowed behind its caller's back.
func WindowOf(from, to *time.Time, now time.Time, retentionDays int) (Window, error) {
	oldest := now.AddDate(0, 0, -retentionDays)
	w := Window{To: now}
	if to != nil {
		w.To = to.UTC()
	}
	switch {
	case from != nil:
		w.From = from.UTC()
	case !oldest.Before(w.To):
		return Window{}, retentionExceeded("to", oldest, retentionDays)
	default:
		w.From = earliest(now, w.To).Add(-defaultWindow)
		if w.From.Before(oldest) {
			w.From = oldest
		}
	}
	if !w.From.Before(w.To) {
		return Window{}, Invalid("from", "is not before `to`").
			WithNext("Send a `from` that is earlier than `to`; without `to` the window ends now.")
	}
	// A caller who computes "30 days ago" does so a moment before we do.
	if w.From.Before(oldest.Add(-time.Minute)) {
		return Window{}, retentionExceeded("from", oldest, retentionDays)
	}
	return w, nil
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func retentionExceeded(member string, oldest time.Time, days int) *Error {
	return &Error{
		Code:    CodePlanRetentionExceeded,
		Message: "`" + member + "` is older than what the plan keeps.",
		Next:    "Send a `" + member + "` after " + oldest.UTC().Format(time.RFC3339) + ".",
		Extra:   map[string]any{"retention_days": days},
	}
}
