package core

import "time"

// Window is a span of time. From is its first instant; To is the end, which is not part of
// it.
type Window struct{ From, To time.Time }

// defaultWindow is the length of a window whose start is not given.
const defaultWindow = 30 * 24 * time.Hour

// LastDays returns the window of the last n days in UTC. The last day is today, and the
// window ends at the time now.
func LastDays(now time.Time, n int) Window {
	return Window{From: now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n), To: now}
}

// OldestDay returns the beginning of the oldest day in UTC that an organization may read
// completely in messages and reports. The limit is that of [WindowOf]: retentionDays before
// now.
func OldestDay(now time.Time, retentionDays int) time.Time {
	oldest := now.UTC().AddDate(0, 0, -retentionDays)
	if day := oldest.Truncate(24 * time.Hour); day.Equal(oldest) {
		return day
	}
	return oldest.Truncate(24*time.Hour).AddDate(0, 0, 1)
}

// WindowOf returns the window between from and to, which may be nil. If to is nil, the
// window ends now. If from is nil, it begins 30 days before the earlier of now and to, but
// at most retentionDays before now.
//
// WindowOf fails with validation_failed if from is not before to. It fails with
// plan_retention_exceeded if from is more than retentionDays and a minute before now. If
// from is nil, it also fails with this code if to is at least retentionDays before now.
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
		return Window{}, retentionError("to", oldest, retentionDays)
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
	// Allow a minute, because a caller computes "30 days ago" just before this call.
	if w.From.Before(oldest.Add(-time.Minute)) {
		return Window{}, retentionError("from", oldest, retentionDays)
	}
	return w, nil
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func retentionError(member string, oldest time.Time, days int) *Error {
	return &Error{
		Code:    CodePlanRetentionExceeded,
		Message: "`" + member + "` is older than what the plan keeps.",
		Next:    "Send a `" + member + "` after " + oldest.UTC().Format(time.RFC3339) + ".",
		Extra:   map[string]any{"retention_days": days},
	}
}
