package predicatelint

import (
	"math"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// amount is what literals say about the number of a source's events: it is from low to
// high. high is infinite if there is no limit.
type amount struct {
	source    *predicate.EventSource
	low, high float64
}

// eventsConflict reports whether one of the groups, each about the events of one source, has
// literals that cannot all hold. It also compares sources: a source whose events all belong
// to another source has at most as many of them.
func (r *prover) eventsConflict(events groups) bool {
	var amounts []amount
	for _, group := range events.all {
		a, possible := r.amountOf(group)
		if !possible {
			return true
		}
		amounts = append(amounts, a)
	}
	for _, part := range amounts {
		for _, whole := range amounts {
			if part.low > whole.high && isWithin(part.source, whole.source) {
				return true
			}
		}
	}
	return false
}

// isWithin reports whether it is certain that whole selects every event that part selects.
func isWithin(part, whole *predicate.EventSource) bool {
	if part.Event != whole.Event {
		return false
	}
	if whole.Where != nil && (part.Where == nil || predicate.Canonical(part.Where) != predicate.Canonical(whole.Where)) {
		return false
	}
	if whole.HasWithin && (!part.HasWithin || part.Within.Micros() > whole.Within.Micros()) {
		return false
	}
	return !whole.HasBetween || part.HasBetween && part.Between.From >= whole.Between.From && part.Between.Until <= whole.Between.Until
}

// amountOf returns how many events a source can have if the literals hold. possible is
// false if they cannot hold. All literals are about the same source.
func (r *prover) amountOf(group []literal) (a amount, possible bool) {
	a = amount{source: &testOf(group[0]).Source, low: math.Inf(1), high: math.Inf(-1)}
	if possibleWithoutEvents(group) {
		a.low, a.high = 0, 0
	}
	if !r.selectsNone(a.source) && r.figuresPossible(group) {
		for _, count := range r.countsOf(group) {
			a.low, a.high = min(a.low, count), max(a.high, count)
		}
	}
	return a, a.low <= a.high
}

func testOf(one literal) *predicate.EventTest { return one.part.Test.(*predicate.EventTest) }

// possibleWithoutEvents reports whether the literals hold for a contact without events of
// the source.
func possibleWithoutEvents(group []literal) bool {
	return !slices.ContainsFunc(group, func(one literal) bool {
		switch n := testOf(one); n.Kind {
		case predicate.Exists:
			return one.base()
		case predicate.Count:
			return predicate.Holds(n.Op, 0, n.Number) != one.base()
		}
		return one.want // the other figures are Unknown
	})
}

// sourceText returns a text that is the same for tests of the same events in the same words.
func (r *prover) sourceText(n *predicate.EventTest) string {
	text, known := r.sources[n]
	if !known {
		text = predicate.Canonical(&predicate.EventTest{Kind: predicate.Exists, Source: n.Source})
		r.sources[n] = text
	}
	return text
}

// selectsNone reports whether it is certain that no event matches the where-condition.
func (r *prover) selectsNone(s *predicate.EventSource) bool {
	if s.Where == nil {
		return false
	}
	empty, known := r.empty[s.Where]
	if !known {
		empty = r.unsatisfiable(nil, predicate.PartsOf(s.Where), true)
		r.empty[s.Where] = empty
	}
	return empty
}

// manyEvents is the number of events that stands for any large number. Larger counts do not
// occur.
const manyEvents = 1 << 50

// countsOf returns numbers of events, at least one, for which the literals about the number
// hold: the least, the greatest and others, with infinity for any large number.
func (r *prover) countsOf(group []literal) []float64 {
	candidates, tests := []float64{1, 2, manyEvents}, []literal{}
	for _, one := range group {
		switch n := testOf(one); n.Kind {
		case predicate.Exists:
			if !one.base() {
				return nil
			}
		case predicate.Count:
			tests = append(tests, one)
			candidates = append(candidates, math.Floor(n.Number)-1, math.Floor(n.Number), math.Ceil(n.Number), math.Floor(n.Number)+1)
		}
	}
	var counts []float64
	for _, count := range candidates {
		if count < 1 || count > manyEvents || !possible(r, []float64{count}, tests, numberHolds, nil) {
			continue
		}
		if count == manyEvents {
			count = math.Inf(1)
		}
		counts = append(counts, count)
	}
	return counts
}

func numberHolds(n predicate.Node, number float64) bool {
	test := n.(*predicate.EventTest)
	return predicate.Holds(test.Op, number, test.Number)
}

// figuresPossible reports whether the literals about sums, averages, extremes and times may
// all hold for a contact with events of the source. Each figure is looked at separately.
func (r *prover) figuresPossible(group []literal) bool {
	var figures groups
	for _, one := range group {
		n := testOf(one)
		switch n.Kind {
		case predicate.Exists, predicate.Count:
		case predicate.Last, predicate.First:
			figures.add(n.Kind.String(), one)
		default:
			figures.add(n.Kind.String()+" "+n.Field.Name, one)
		}
	}
	for _, figure := range figures.all {
		if !r.figurePossible(figure) {
			return false
		}
	}
	return true
}

// figurePossible reports whether the literals about one figure may all hold. A sum, average
// or extreme is Unknown if no event has the property.
func (r *prover) figurePossible(tests []literal) bool {
	n := testOf(tests[0])
	if n.Kind == predicate.Last || n.Kind == predicate.First {
		return r.eventTimePossible(n.Source, tests)
	}
	if !slices.ContainsFunc(tests, func(one literal) bool { return one.want }) {
		return true
	}
	candidates := []float64{0}
	for _, one := range tests {
		v := testOf(one).Number
		candidates = append(candidates, v, math.Nextafter(v, math.Inf(-1)), math.Nextafter(v, math.Inf(1)))
	}
	return possible(r, candidates, tests, numberHolds, nil)
}

// eventTimePossible reports whether the literals about the time of the first or last event
// may hold: an event inside the source's windows may have this time. Fixed times and times
// relative to now are looked at separately.
func (r *prover) eventTimePossible(s predicate.EventSource, tests []literal) bool {
	var fixed, relative []literal
	for _, one := range tests {
		if testOf(one).Time.Relative {
			relative = append(relative, one)
		} else {
			fixed = append(fixed, one)
		}
	}
	at := func(from, until int64, bounded bool, tests []literal) bool {
		candidates := []int64{0, from, until}
		for _, one := range tests {
			candidates = appendBeside(candidates, testOf(one).Time.Micros)
		}
		return possible(r, candidates, tests, func(n predicate.Node, at int64) bool {
			test := n.(*predicate.EventTest)
			return predicate.Holds(test.Op, at, test.Time.Micros)
		}, func(at int64) bool { return !bounded || from <= at && at <= until })
	}
	return at(s.Between.From, s.Between.Until-1, s.HasBetween, fixed) && at(-s.Within.Micros(), 0, s.HasWithin, relative)
}
