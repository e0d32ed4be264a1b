package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/guardrails"
)

// arrivals has functions that imitate the arrival of calls, by name. Each returns the time
// to wait before the next call. limit is the number of calls allowed in a minute.
var arrivals = map[string]func(draw *rand.Rand, limit int) time.Duration{
	"all at once":       func(*rand.Rand, int) time.Duration { return 0 },
	"bursts and pauses": pauses,
	"at the limit":      func(_ *rand.Rand, limit int) time.Duration { return time.Minute / time.Duration(limit) },
	"twice the limit":   func(_ *rand.Rand, limit int) time.Duration { return time.Minute / time.Duration(2*limit) },
	"by chance": func(draw *rand.Rand, limit int) time.Duration {
		return time.Duration(draw.ExpFloat64() * float64(time.Minute) / float64(limit))
	},
	// Calls come in bursts 59 seconds apart, so that two bursts are within one minute. A
	// limiter that counts in fixed windows of one minute would admit both bursts.
	"before and after": func(draw *rand.Rand, limit int) time.Duration {
		if draw.IntN(limit) == 0 {
			return 59 * time.Second
		}
		return time.Microsecond * time.Duration(draw.IntN(1000))
	},
}

func pauses(draw *rand.Rand, limit int) time.Duration {
	if draw.IntN(max(2, limit/2)) == 0 {
		return time.Duration(draw.Int64N(int64(time.Minute)))
	}
	return time.Duration(draw.Int64N(int64(100 * time.Millisecond)))
}

// TestNoMinuteAdmitsMoreThanTheLimit checks that no period of 60 seconds admits more calls
// than the limit, for every pattern in arrivals. It also checks the RetryAfter of a refused
// call. A call after that time must be admitted, and a call one second earlier must be
// refused.
func TestNoMinuteAdmitsMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	eachMovable(t, func(t *testing.T, s bucketStore) {
		for way, next := range arrivals {
			for _, limit := range []int{1, 3, 10, 121} {
				draw := rand.New(rand.NewPCG(14, uint64(limit)))
				s.arrive(t, fmt.Sprintf("%s, limit %d", way, limit), limit, func() time.Duration { return next(draw, limit) })
			}
		}
	})
}

// arrive makes calls to one bucket. Before each call it moves the clock by the duration
// that the function next returns. It checks each answer. It also checks that at most limit
// calls are admitted in any 60 seconds. The parameter what describes the pattern of calls
// in failure messages.
func (s bucketStore) arrive(t *testing.T, what string, limit int, next func() time.Duration) {
	t.Helper()
	key, begun, total := someBucketKey(), s.now(), 0
	var minute []time.Time // when the calls of the last 60 seconds were admitted
	admit := func() {
		now := s.now()
		minute = slices.DeleteFunc(minute, func(at time.Time) bool { return !now.Before(at.Add(time.Minute)) })
		if minute, total = append(minute, now), total+1; len(minute) > limit {
			t.Fatalf("%s: %d calls within a minute", what, len(minute))
		}
	}
	var got guardrails.Rate
	for call := range limit + limit/2 + 40 {
		s.pass(next().Truncate(time.Microsecond))
		var ok bool
		if got, ok = s.take(t, key, limit, 1); ok {
			admit()
		}
		if ok != (got.RetryAfter == 0) || got.Limit != limit || got.Remaining > limit-len(minute) && ok || got.Reset > time.Minute {
			t.Fatalf("%s: admitted %t, %d in the last minute: %+v", what, ok, len(minute), got)
		}
		if ok || call%5 > 0 {
			continue
		}
		s.pass(got.RetryAfter - time.Second)
		if again, early := s.take(t, key, limit, 1); early {
			t.Fatalf("%s: %+v, and admitted a second before: %+v", what, got, again)
		}
		s.pass(time.Second)
		refusal := got
		if got, ok = s.take(t, key, limit, 1); !ok {
			t.Fatalf("%s: %+v, and refused after that: %+v", what, refusal, got)
		}
		admit()
	}
	// If a caller sends twice as many calls as the limit, at least nine tenths of the limit
	// must be admitted.
	if passed := s.now().Sub(begun).Minutes(); strings.HasPrefix(what, "twice") && total < int(passed*float64(limit)*9/10) {
		t.Errorf("%s: %d calls in %.1f minutes", what, total, passed)
	}
	s.pass(got.Reset)
	if full, _ := s.take(t, key, limit, 1); full.Remaining != limit-1 {
		t.Errorf("%s: after the reset of %+v: %+v", what, got, full)
	}
}

// TestABucketSurvivesAClockThatIsSetBack sets the clock of a bucket back by an hour. Tokens
// taken before must still count as taken, and must be available again one minute later by
// the new time.
func TestABucketSurvivesAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	eachMovable(t, func(t *testing.T, s bucketStore) {
		key := someBucketKey()
		s.take(t, key, 4, 3)
		s.pass(-time.Hour)
		s.want(t, s.takeOne(t, key, 4), 4, 4, s.now())
		if got, ok := s.take(t, key, 4, 1); ok || got.RetryAfter != time.Minute {
			t.Errorf("%t %+v", ok, got)
		}
		s.pass(time.Minute)
		s.want(t, s.takeOne(t, key, 4), 4, 1, s.now())
	})
}

// takeOne takes one token, and returns the state of the bucket after that. It fails the
// test if the call is refused.
func (s bucketStore) takeOne(t *testing.T, key guardrails.BucketKey, limit int) guardrails.Rate {
	t.Helper()
	got, ok := s.take(t, key, limit, 1)
	if !ok {
		t.Errorf("refused: %+v", got)
	}
	return got
}
