package guardrails

import (
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// refusalEvery is the shortest interval between two log lines about calls of one caller above its
// rate limit. A caller that repeats such calls as fast as it can would otherwise fill the log.
const refusalEvery = 10 * time.Second

// refusalLines decides which calls above a rate limit are logged.
type refusalLines struct {
	clock core.Clock

	mu      sync.Mutex
	of      map[BucketKey]refusalLine
	sweepAt int
}

// refusalLine is the last log line about a caller, and the number of its calls since that are not
// logged.
type refusalLine struct {
	at      time.Time
	omitted int
}

func newRefusalLines(clock core.Clock) *refusalLines {
	return &refusalLines{clock: clock, of: map[BucketKey]refusalLine{}, sweepAt: firstSweep}
}

// next reports whether a refused call of a caller is logged, and how many were not since the line
// before.
func (l *refusalLines) next(key BucketKey) (logged bool, omitted int) {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	line, known := l.of[key]
	if passed := now.Sub(line.at); known && passed >= 0 && passed < refusalEvery {
		line.omitted++
		l.of[key] = line
		return false, 0
	}
	if !known && len(l.of) >= l.sweepAt {
		l.sweep(now)
	}
	l.of[key] = refusalLine{at: now}
	return true, line.omitted
}

// sweep forgets the callers whose last line is older than a minute. The caller must hold l.mu.
func (l *refusalLines) sweep(now time.Time) {
	for key, line := range l.of {
		if now.Sub(line.at) > time.Minute {
			delete(l.of, key)
		}
	}
	l.sweepAt = max(firstSweep, 2*len(l.of))
}
