package predicate_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"pgregory.net/rapid"
)

// TestNextChange checks the instant at which the result of a predicate for anna changes
// next. The zero time means that it never changes by the passing of time.
func TestNextChange(t *testing.T) {
	t.Parallel()
	const micro = time.Microsecond
	in := func(d time.Duration) time.Time { return now.Add(d) }
	never := time.Time{}
	for source, want := range map[string]time.Time{
		`attr.plan = "pro" and exists(open) and subscribed to "offers"`: never,
		// windows: anna has opens 1 and 10 days ago
		`exists(open within 2d)`:                                    in(day + micro),
		`exists(open within 30d)`:                                   in(29*day + micro), // the earlier open makes no difference
		`count(open within 30d) >= 2`:                               in(20*day + micro),
		`exists(open within 12h)`:                                   never,
		`exists(click within 30d)`:                                  never,
		`count(open within 30d) < 1`:                                in(29*day + micro),
		`not exists(open within 30d)`:                               in(29*day + micro),
		`sum(amount of activity.purchase within 30d) > 5`:           in(20*day + micro),
		`exists(open where subject = "Hello" within 30d)`:           in(20*day + micro),
		`exists(open within 30d between 2026-06-05 and 2026-06-05)`: in(20*day + micro),
		// ages and times relative to now: anna joined 30 days ago
		`now - attr.joined > 30d`:               in(micro),
		`now - attr.joined >= 31d`:              in(day),
		`now - attr.joined < 31d`:               in(day),
		`now - attr.joined between 20d and 40d`: in(10*day + micro),
		`now - attr.joined between 40d and 50d`: in(10 * day),
		`now - attr.joined < 20d`:               never,
		`attr.joined < now - 31d`:               in(day + micro),
		`attr.joined > now - 31d`:               in(day),
		`attr.joined = now - 40d`:               in(10 * day),
		`attr.joined < now`:                     never,
		`attr.joined > 2026-05-01`:              never,
		`last(open) < now - 7d`:                 in(6*day + micro),
		`first(open) > now - 11d`:               in(day),
		`last(open within 2d) < now`:            in(day + micro), // it becomes Unknown
		`last(open) > 2026-06-01`:               never,
		// one decisive term decides how long the result lasts
		`attr.plan = "free" and exists(open within 2d)`:           never,
		`attr.plan = "pro" or exists(open within 2d)`:             never,
		`exists(open within 2d) or exists(open within 3d)`:        in(2*day + micro),
		`exists(open within 2d) and exists(open within 3d)`:       in(day + micro),
		`not (exists(open within 2d) or now - attr.joined > 1d)`:  never,
		`now - attr.joined > 40d and exists(open within 30d)`:     in(10*day + micro),
		`now - attr.joined > 40d and count(open within 30d) >= 2`: in(10*day + micro),
		`now - attr.joined > 40d and exists(open within 2d)`:      never,
	} {
		at, ok := compile(t, source).NextChange(anna, now)
		if ok == want.IsZero() || ok && !at.Equal(want) {
			t.Errorf("%s changes at %v (%v), want %v", source, at, ok, want)
		}
	}
}

// TestNextChangeOfEventsAhead checks that an event in the future enters a window at its
// time.
func TestNextChangeOfEventsAhead(t *testing.T) {
	t.Parallel()
	subject := predicate.Subject{Events: []predicate.Occurrence{{Event: predicate.Event{Kind: predicate.Open}, At: now.Add(day).UnixMicro()}}}
	p := compile(t, `exists(open within 2d)`)
	for _, want := range []time.Time{now.Add(day), now.Add(3*day + time.Microsecond)} {
		from := want.Add(-time.Hour)
		if at, ok := p.NextChange(subject, from); !ok || !at.Equal(want) {
			t.Errorf("from %v it changes at %v (%v), want %v", from, at, ok, want)
		}
	}
}

// TestNextChangeInsideWhere checks that a where-condition with a relative time can change the
// result while the event is inside the window.
func TestNextChangeInsideWhere(t *testing.T) {
	t.Parallel()
	bought := purchase(0, predicate.NumberValue(1), false)
	bought.Properties["due"] = predicatetest.TimeValue(now.Add(3 * day))
	subject := predicate.Subject{Events: []predicate.Occurrence{bought}}
	for source, want := range map[string]time.Time{
		`exists(activity.purchase where due > now within 30d)`:      now.Add(3 * day),
		`exists(activity.purchase where due > now within 1d)`:       now.Add(day + time.Microsecond),
		`exists(activity.purchase where due < now + 1d within 30d)`: now.Add(2*day + time.Microsecond),
		`exists(activity.purchase where due < now + 1d)`:            now.Add(2*day + time.Microsecond),
	} {
		if at, ok := compile(t, source).NextChange(subject, now); !ok || !at.Equal(want) {
			t.Errorf("%s changes at %v (%v), want %v", source, at, ok, want)
		}
	}
}

// TestNextChangeTakesFewSteps checks that one call returns early, and not too late, for a
// contact with very many events.
func TestNextChangeTakesFewSteps(t *testing.T) {
	t.Parallel()
	const events = 1000
	var subject predicate.Subject
	for i := range events {
		subject.Events = append(subject.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.Open}, At: now.Add(-time.Duration(i) * time.Minute).UnixMicro()})
	}
	last := now.Add(day + time.Microsecond)
	at, ok := compile(t, `exists(open within 1d)`).NextChange(subject, now)
	if !ok || !at.After(now) || at.After(last) {
		t.Errorf("it changes at %v (%v), after at most %v", at, ok, last)
	}
}

// TestResultIsTheSameUntilNextChange checks for random predicates and contacts that the
// result does not change between now and NextChange. Most of the instants must be real
// changes.
func TestResultIsTheSameUntilNextChange(t *testing.T) {
	t.Parallel()
	changes, actual := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(5, 3).Draw(t, "case")
		start := predicatetest.Now.Add(time.Duration(rapid.Int64Range(-int64(40*day), int64(40*day)).Draw(t, "from now")))
		if rapid.Bool().Draw(t, "at now") {
			start = predicatetest.Now
		}
		for _, p := range c.Predicates {
			for _, s := range c.Subjects {
				before := p.Match(s, start)
				at, ok := p.NextChange(s, start)
				length := 3 * 365 * day
				if ok {
					changes, length = changes+1, at.Sub(start)
					if after := p.Match(s, at); after != before {
						actual++
					}
				}
				if length <= 0 {
					t.Fatalf("%s changes at %v, which is not after %v", p, at, start)
				}
				for _, offset := range []time.Duration{
					1, length - 1, length / 2, time.Duration(rapid.Int64Range(0, int64(length)-1).Draw(t, "offset")),
				} {
					offset = min(max(offset, 0), length-1)
					if truth := p.Match(s, start.Add(offset)); truth != before {
						t.Fatalf("%s is %s at %v and %s after %v; NextChange is %v (%v)", p, before, start, truth, offset, at, ok)
					}
				}
			}
		}
	})
	if actual == 0 || actual < changes*9/10 {
		t.Errorf("%d of %d instants are real changes", actual, changes)
	}
}
