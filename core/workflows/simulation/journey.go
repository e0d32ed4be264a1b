package simulation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// journey is one contact in a simulation, with at most one run at a time.
type journey struct {
	plan  *engine.Plan
	state engine.State
	facts engine.Facts
	// subject has the events until facts.Now. events has all of them, sorted by time.
	subject predicate.Subject
	events  []predicate.Occurrence
	// mailed has the times of messages to the contact, the oldest first.
	mailed []time.Time
	// hasRun is true after the first run began, leftByName if the last run has left by a named
	// exit.
	hasRun, leftByName bool
}

// newJourney returns a journey of a contact. It does not change the subject.
func newJourney(plan *engine.Plan, subject predicate.Subject, facts engine.Facts) *journey {
	j := &journey{plan: plan, facts: facts, subject: subject, events: subject.Events}
	byTime := func(a, b predicate.Occurrence) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(j.events, byTime) {
		j.events = slices.Clone(j.events)
		slices.SortStableFunc(j.events, byTime)
	}
	j.subject.Events = nil
	j.subject.Attributes, j.subject.Lists = maps.Clone(subject.Attributes), maps.Clone(subject.Lists)
	j.facts.Subject, j.facts.Mailed = &j.subject, j.countMailed
	return j
}

// at sets the time, which must not go back, and shows the events until then.
func (j *journey) at(now time.Time) {
	j.facts.Now = now
	n := len(j.subject.Events)
	for micros := now.UnixMicro(); n < len(j.events) && j.events[n].At <= micros; {
		n++
	}
	j.subject.Events = j.events[:n:n]
}

// countMailed returns the number of messages since the time.
func (j *journey) countMailed(since time.Time) int {
	n := 0
	for i := len(j.mailed) - 1; i >= 0 && !j.mailed[i].Before(since); i-- {
		n++
	}
	return n
}

// mayEnter reports whether the contact begins a run now if the trigger happens.
func (j *journey) mayEnter() bool {
	if j.hasRun && (j.plan.Settings().Reentry == language.Once || !j.state.IsOver()) {
		return false
	}
	return j.plan.Admits(j.subject, j.facts.Now) && !(j.leftByName && j.plan.Leaves(j.subject, j.facts.Now))
}

// enter begins a run now.
func (j *journey) enter() {
	j.state, j.hasRun, j.leftByName = engine.Begin(j.facts.Now), true, false
}

// advance moves the run at the current time until it waits or has ended. It passes everything
// that happens to report, call by call, with the time.
func (j *journey) advance(report func(time.Time, engine.Moved)) {
	for again := true; again; {
		moved := j.plan.Advance(j.state, j.facts)
		j.state = moved.State
		if n := len(moved.Events); n > 0 && moved.Events[n-1].Kind == engine.ByName {
			j.leftByName = true
		}
		report(j.facts.Now, moved)
		again = moved.Steps == engine.MaxSteps && !j.state.IsOver() && j.state.WakeAt.Equal(j.facts.Now)
		if j.state.Phase == engine.Sending {
			j.mailed = append(j.mailed, j.facts.Now)
			j.state.Phase, again = engine.Sent, true
		}
	}
}

// wakes returns the time at which the run continues. ok is false if there is no run, or if it has
// ended or waits for a person.
func (j *journey) wakes() (at time.Time, ok bool) {
	if !j.hasRun || j.state.IsOver() {
		return time.Time{}, false
	}
	at = j.state.WakeAt
	if next := len(j.subject.Events); j.state.OnChange && next < len(j.events) {
		if event := time.UnixMicro(j.events[next].At).UTC(); at.IsZero() || event.Before(at) {
			at = event
		}
	}
	if at.IsZero() {
		return at, false
	}
	if !at.After(j.facts.Now) { // time must pass
		at = j.facts.Now.Add(time.Microsecond)
	}
	return at, true
}
