package guardrails

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Window is the length of the time window to which a rate limit applies.
const Window = time.Minute

// marksInWindow is the highest rate limit for which each call is stored separately. For
// higher limits, calls within one grain (see [Grain]) are stored together.
const marksInWindow = 120

// Grain returns the length of the period whose calls the window stores as one entry. It is
// half a second for limits above 120. For limits up to 120 it is 0: each call is stored
// separately.
func Grain(limit int) time.Duration {
	if limit <= marksInWindow {
		return 0
	}
	return Window / marksInWindow
}

// window is a token bucket. In any 60 seconds it admits at most as many tokens as the field
// limit says. It stores the times and numbers of the admitted tokens, oldest first. Tokens
// that are stored together count from the last of their times. So the window never admits
// too many tokens, but a token may return up to a [Grain] late.
type window struct {
	limit int

	mu    sync.Mutex
	used  int // the sum over marks
	marks []mark
}

// mark is the number of tokens that were taken within one grain, which is the duration that
// [Grain] returns. first and last are the times of the first and the last token, in
// microseconds since 1970.
type mark struct {
	first, last int64
	tokens      int
}

// take takes the number of tokens in the parameter cost, or none if fewer are left. It
// returns the state of the window and whether the tokens were taken. It reads the clock
// under the lock. So the marks, which record taken tokens, are stored in the order of their
// times.
func (w *window) take(clock core.Clock, cost int) (Rate, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := clock().UnixMicro()
	w.forget(now)
	admitted := w.used+cost <= w.limit
	if admitted {
		w.remember(now, cost)
	}
	return w.rate(now, admitted, cost), admitted
}

// forget removes the marks (records of taken tokens) that are 60 seconds old or older. If
// the clock was set back, it changes the time of marks in the future to now.
func (w *window) forget(now int64) {
	gone := 0
	for gone < len(w.marks) && w.marks[gone].last+Window.Microseconds() <= now {
		w.used -= w.marks[gone].tokens
		gone++
	}
	if gone > 0 {
		w.marks = w.marks[:copy(w.marks, w.marks[gone:])]
	}
	for i := len(w.marks) - 1; i >= 0 && w.marks[i].last > now; i-- {
		w.marks[i].first, w.marks[i].last = min(w.marks[i].first, now), now
	}
}

func (w *window) remember(now int64, cost int) {
	w.used += cost
	if newest := len(w.marks) - 1; newest >= 0 && now-w.marks[newest].first < Grain(w.limit).Microseconds() {
		w.marks[newest].last = now
		w.marks[newest].tokens += cost
		return
	}
	w.marks = append(w.marks, mark{now, now, cost})
}

// rate returns the state of the window after a call that needs the number of tokens in
// cost. admitted says whether the window admitted this call.
func (w *window) rate(now int64, admitted bool, cost int) Rate {
	until := func(m mark) time.Duration {
		return time.Duration(m.last-now)*time.Microsecond + Window
	}
	var reset, retry time.Duration
	if len(w.marks) > 0 {
		reset = until(w.marks[len(w.marks)-1])
	}
	if !admitted {
		free := w.limit - w.used
		for i := 0; i < len(w.marks) && free < cost; i++ {
			free += w.marks[i].tokens
			retry = until(w.marks[i])
		}
	}
	return NewRate(w.limit, w.limit-w.used, reset, retry)
}

// empty reports whether no token was taken in the 60 seconds that end at the time in the
// parameter now. Such a window equals a new one.
func (w *window) empty(now int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(now)
	return len(w.marks) == 0
}
