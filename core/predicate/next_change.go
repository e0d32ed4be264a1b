package predicate

import (
	"math"
	"time"
)

// never is the time of a change that the passing of time does not cause.
const never = math.MaxInt64

// maxNextSteps is the maximum number of instants at which NextChange evaluates the
// predicate. It limits the time that one call takes.
const maxNextSteps = 64

// NextChange returns the earliest instant after now at which the result of Match for the
// contact can change without a change of its data. Between now and at, the result is the
// same as now. ok is false if the passing of time alone never changes the result.
//
// NextChange evaluates the predicate at the instants at which one of its tests changes. If
// the result is the same at the first 64 of these instants, it returns the last of them. So
// the result at the instant at can be the same as now; the caller must evaluate the
// predicate again.
//
// The subject must have all data that the predicate reads, including events in the future
// and all events that a window contains at the time now.
func (c *Checked) NextChange(s Subject, now time.Time) (at time.Time, ok bool) {
	e := evaluation{subject: &s}
	e.setNow(now)
	before, change := e.outlook(c.Root)
	for range maxNextSteps {
		if change == never {
			return time.Time{}, false
		}
		at = time.UnixMicro(change).UTC()
		e.setNow(at)
		var truth Truth
		if truth, change = e.outlook(c.Root); truth != before {
			break
		}
	}
	return at, true
}

// setNow sets the time of the evaluation.
func (e *evaluation) setNow(now time.Time) { e.now, e.at = now.UnixMicro(), now }

// outlook returns the result of a node at the time e.now, and the earliest time after it
// at which the result can change. The result is the same until then, but it need not
// change then.
func (e *evaluation) outlook(n Node) (Truth, int64) {
	switch n := n.(type) {
	case *And:
		return e.outlookOfTerms(n.Terms, False, minTruth)
	case *Or:
		return e.outlookOfTerms(n.Terms, True, maxTruth)
	case *Not:
		truth, change := e.outlook(n.Term)
		return truth.Not(), change
	case *Compare:
		return e.compare(n), e.compareChange(n)
	case *Age:
		return e.age(n), e.ageChange(n)
	case *EventTest:
		return e.eventTest(n), e.eventTestChange(n)
	}
	return e.node(n), never
}

func minTruth(a, b Truth) Truth { return min(a, b) }
func maxTruth(a, b Truth) Truth { return max(a, b) }

// outlookOfTerms returns the outlook of an And or an Or. A single term with the result
// decisive decides the result of the node: False for And, True for Or. While one such term
// is unchanged, the node is unchanged. join is the minimum or the maximum.
func (e *evaluation) outlookOfTerms(terms []Node, decisive Truth, join func(a, b Truth) Truth) (Truth, int64) {
	result, earliest, decided := decisive.Not(), int64(never), int64(math.MinInt64)
	for _, term := range terms {
		truth, change := e.outlook(term)
		result, earliest = join(result, truth), min(earliest, change)
		if truth == decisive {
			decided = max(decided, change)
		}
	}
	if result == decisive {
		return result, decided
	}
	return result, earliest
}

// crossing returns the earliest time after e.now at which a comparison of the current time
// with the time at can change: at itself, or the microsecond after it.
func (e *evaluation) crossing(at int64) int64 { return e.after(at, at+1) }

// after returns the earliest of the times that is after e.now. It returns never if there
// is none.
func (e *evaluation) after(times ...int64) int64 {
	earliest := int64(never)
	for _, at := range times {
		if at > e.now {
			earliest = min(earliest, at)
		}
	}
	return earliest
}

func (e *evaluation) compareChange(n *Compare) int64 {
	if !isTimed(n) {
		return never
	}
	v, known := e.value(n.Field)
	if !known {
		return never
	}
	return e.crossing(v.Moment.Micros - n.Value.Moment.Micros)
}

func (e *evaluation) ageChange(n *Age) int64 {
	v, known := e.value(n.Field)
	if !known {
		return never
	}
	if n.Between {
		return e.after(v.Moment.Micros+n.Low.Micros(), v.Moment.Micros+n.High.Micros()+1)
	}
	return e.crossing(v.Moment.Micros + n.Low.Micros())
}

// eventTestChange returns when the set of selected events can change or, for Last and
// First, when the time that they are compared with passes the current value.
func (e *evaluation) eventTestChange(n *EventTest) int64 {
	change := int64(never)
	var f figures
	for i := range e.subject.Events {
		o := &e.subject.Events[i]
		if o.Event != n.Source.Event {
			continue
		}
		change = min(change, e.selectionChange(&n.Source, o))
		if e.isSelected(&n.Source, o) && e.add(&f, n, o) {
			f.count++
		}
	}
	if f.count == 0 || !n.Time.Relative {
		return change
	}
	switch n.Kind {
	case Last:
		return min(change, e.crossing(f.last-n.Time.Micros))
	case First:
		return min(change, e.crossing(f.first-n.Time.Micros))
	}
	return change
}

// selectionChange returns the earliest time after e.now at which the source s can begin or
// cease to select the event o. o is of the kind that s selects.
func (e *evaluation) selectionChange(s *EventSource, o *Occurrence) int64 {
	if s.HasBetween && (o.At < s.Between.From || o.At >= s.Between.Until) {
		return never
	}
	leaves := int64(never)
	if s.HasWithin {
		leaves = o.At + s.Within.Micros() + 1
		switch {
		case o.At > e.now: // the event is in the future
			return o.At
		case leaves <= e.now: // it has left the window
			return never
		}
	}
	if s.Where == nil {
		return leaves
	}
	e.occurrence = o
	truth, change := e.outlook(s.Where)
	if truth != True {
		return change
	}
	return min(leaves, change)
}
