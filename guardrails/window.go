package guardrails

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Window is the period in which a limit counts.
const Window = time.Minute

// marksInWindow is the highest limit for which a window remembers each call separately. For
// higher limits, it remembers the calls within one grain together.
const marksInWindow = 120

// Grain returns the time within which the calls of a limit are remembered together: 0 for
// limits of at most 120, half a second for higher ones.
func Grain(limit int) time.Duration {
	if limit <= marksInWindow {
		return 0
	}
	return Window / marksInWindow
}

// window admits at most limit tokens in any 60 seconds. It remembers the tokens that it
// admitted and when, oldest first. Calls that it remembers together count as made at the
// time of the last of them. So the window never admits too many, but may admit a call up to
// one grain late.
type window struct {
	limit int

	mu    sync.Mutex
	used  int // the sum over marks
	marks []mark
}

// mark records the tokens taken within one grain, with times in microseconds since 1970.
type mark struct {
	first, last int64
	tokens      int
}

// take takes cost tokens, or none when fewer are left. It reads the clock under the lock, so
// that calls are remembered in their order.
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

// forget removes marks that are 60 seconds old or older. If the clock was set back, marks in
// the future count as made now.
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

// rate returns the state after a call of the given cost.
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

// empty reports whether the window holds no marks at now, like a new one.
func (w *window) empty(now int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(now)
	return len(w.marks) == 0
}
