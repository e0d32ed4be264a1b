package engine

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var noTime time.Time

// after returns the time that is a duration after now.
func (m *motion) after(d language.Duration) time.Time {
	return m.facts.Now.Add(time.Duration(d.Micros()) * time.Microsecond)
}

// sleep lets the run wait until the time.
func (m *motion) sleep(until time.Time) {
	m.State.Phase, m.State.Until, m.State.WakeAt = Waiting, until, until
}

// begin lets the run wait until the time, and adds the event of a wait that begins.
func (m *motion) begin(until time.Time) {
	m.sleep(until)
	m.event(Event{Type: WaitStarted, Detail: "until " + until.UTC().Format(time.RFC3339)})
}

// isWaiting reports whether the wait of the current step has begun and is not over.
func (m *motion) isWaiting() bool {
	return m.State.Phase == Waiting && m.State.Until.After(m.facts.Now)
}

func (m *motion) wait(s *language.Wait) (goes bool) {
	switch {
	case m.State.Phase == Entering:
		m.begin(m.after(s.For))
		return false
	case m.isWaiting():
		m.sleep(m.State.Until)
		return false
	}
	m.event(Event{Type: WaitMet})
	return true
}

// waitUntil waits until a date. The date of an attribute is read again whenever the run wakes,
// because it may have changed.
func (m *motion) waitUntil(s *language.WaitUntil) (goes bool) {
	target := time.UnixMicro(s.Micros).UTC()
	if s.Attribute != "" {
		target = m.facts.moment(s.Attribute)
	}
	if !target.After(m.facts.Now) {
		if m.State.Phase == Waiting {
			m.event(Event{Type: WaitMet})
		}
		return true
	}
	if m.State.Phase == Entering {
		m.begin(target)
	} else {
		m.sleep(target)
	}
	m.State.OnChange = s.Attribute != ""
	return false
}

func (m *motion) waitFor(of planned, s *language.WaitFor) (next int, goes bool) {
	if m.State.Phase == Entering {
		m.begin(m.after(s.UpTo))
	}
	condition := m.plan.checked.Condition(s.Until)
	switch {
	case m.facts.matches(condition):
		m.awake()
		m.event(Event{Type: WaitMet})
		return of.next, true
	case !m.State.Until.After(m.facts.Now):
		m.awake()
		m.event(Event{Type: WaitTimedOut})
		if len(of.arms) > 0 {
			return of.arms[0], true
		}
		return of.next, true
	}
	m.sleep(m.State.Until)
	m.State.OnChange = true
	if at, ok := condition.NextChange(*m.facts.Subject, m.facts.Now); ok && at.Before(m.State.WakeAt) {
		m.State.WakeAt = at
	}
	if sweep := m.facts.Now.Add(sweepEvery); of.swept && sweep.Before(m.State.WakeAt) {
		m.State.WakeAt = sweep
	}
	return end, false
}

// sweepEvery is the interval at which a condition is tested that reads the suppression list of the
// account. Segments are evaluated as often.
const sweepEvery = 3 * time.Hour

// awake removes the timer of a wait that is over.
func (m *motion) awake() { m.State.WakeAt = noTime }

// repeat begins the next pass after its delay, or goes on with the step after the repeat.
// Passes has an entry from the first delay to the end of the last pass.
func (m *motion) repeat(of planned, s *language.Repeat) (next int, goes bool) {
	until := m.plan.checked.Condition(s.Until)
	if s.Until == nil {
		until = nil
	}
	begun := m.State.Passes[of.path]
	switch {
	case m.isWaiting():
		m.sleep(m.State.Until)
		return end, false
	case m.facts.matches(until), m.State.Phase == Entering && begun == s.Times:
		if m.State.Phase == Waiting {
			m.event(Event{Type: WaitMet})
		}
		delete(m.State.Passes, of.path)
		return of.next, true
	case m.State.Phase == Entering:
		m.setPass(of.path, begun)
		m.begin(m.after(s.Every))
		return end, false
	}
	m.event(Event{Type: WaitMet})
	m.setPass(of.path, begun+1)
	return of.arms[0], true
}

func (m *motion) setPass(path string, n int) {
	if m.State.Passes == nil {
		m.State.Passes = map[string]int{}
	}
	m.State.Passes[path] = n
}

// assign sets an attribute. A value relative to now becomes a time.
func (m *motion) assign(s *language.SetAttribute) {
	assigned := m.plan.checked.Condition(s.Assignment).Root.(*predicate.Compare)
	value := assigned.Value
	if value.Type == predicate.Datetime {
		value.Moment = predicate.Moment{Micros: value.Moment.At(m.facts.Now)}
	}
	m.facts.Subject.Attributes = withValue(m.facts.Subject.Attributes, assigned.Field.Name, value)
	m.Effects = append(m.Effects, &Assignment{Attribute: assigned.Field.Name, Value: value})
}

func (m *motion) join(s *language.AddToList) {
	id := m.plan.checked.ListID(s.Key)
	m.facts.Subject.Lists = withValue(m.facts.Subject.Lists, id, true)
	m.Effects = append(m.Effects, &Joining{ListID: id})
}

// withValue sets a value in a map that may be nil.
func withValue[V any](of map[string]V, key string, value V) map[string]V {
	if of == nil {
		of = map[string]V{}
	}
	of[key] = value
	return of
}
