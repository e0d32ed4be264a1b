package simulation

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Contact is a contact of a simulation.
type Contact struct {
	ID string
	// Subject has the data of the contact, with events of any time.
	Subject predicate.Subject
	// Triggers has the times at which the trigger of the workflow happens, in their order.
	Triggers []Trigger
}

// Trigger is a time at which the trigger of a workflow happens for a contact.
type Trigger struct {
	At time.Time
	// Until is the time at which the contact leaves the segment of the trigger; zero if it
	// stays, and for other triggers.
	Until time.Time
}

// Options says how a simulation runs.
type Options struct {
	WorkflowID string
	// From and Until bound the simulation. Until is excluded.
	From, Until time.Time
	// ActivateAt is the time of the activation, not before From. Zero means From.
	ActivateAt time.Time
	// ForwardOnly lets no contact enter for a trigger of before the activation, even if the
	// workflow does.
	ForwardOnly bool
	// Hold lets messages wait for a person, who never decides.
	Hold bool
	// Cap is the limit of messages that holds for workflows without one of their own.
	Cap *language.Cap
	// Samples is the number of timelines in the result.
	Samples int
}

// Run lets all contacts run through a workflow.
func Run(plan *engine.Plan, population []Contact, opts Options) Result {
	s := New(plan, opts)
	for _, c := range population {
		s.Add(c)
	}
	return s.Result()
}

// Simulator lets contacts run through a workflow one after another, so that not all of them are in
// memory at once. Contacts do not influence each other.
type Simulator struct {
	plan *engine.Plan
	opts Options
	// backSince is the time from which triggers of before the activation count. It is the time
	// of the activation if none do.
	backSince time.Time
	counts    *counts
}

// New returns a simulator without contacts.
func New(plan *engine.Plan, opts Options) *Simulator {
	if opts.ActivateAt.IsZero() {
		opts.ActivateAt = opts.From
	}
	s := &Simulator{plan: plan, opts: opts, counts: newCounts(plan, opts)}
	existing, since := existingOf(plan)
	switch {
	case opts.ForwardOnly || !existing:
		s.backSince = opts.ActivateAt
	case since > 0:
		s.backSince = opts.ActivateAt.Add(-since)
	}
	return s
}

// existingOf reports whether contacts enter at the activation for whom the trigger has happened
// before, and how long before it may have happened; zero for any time.
func existingOf(plan *engine.Plan) (existing bool, since time.Duration) {
	settings := plan.Settings()
	if settings.Enroll == nil {
		return settings.Trigger.Kind == language.OnSegment, 0
	}
	return settings.Enroll.Existing, time.Duration(settings.Enroll.Since.Micros()) * time.Microsecond
}

// Result returns what has happened to the contacts so far.
func (s *Simulator) Result() Result { return s.counts.result() }

// Add lets a contact run through the workflow until the end of the simulation.
func (s *Simulator) Add(c Contact) {
	s.counts.contacts++
	entries := s.entries(c.Triggers)
	if len(entries) == 0 {
		return
	}
	j := newJourney(s.plan, c.Subject, engine.Facts{WorkflowID: s.opts.WorkflowID, ContactID: c.ID, Hold: s.opts.Hold, Cap: s.opts.Cap})
	for {
		wake, active := j.wakes()
		switch {
		case active && wake.Before(s.opts.Until) && (len(entries) == 0 || !entries[0].Before(wake)):
			j.at(wake)
			j.advance(s.counts.moved)
		case len(entries) > 0:
			j.at(entries[0])
			entries = entries[1:]
			if j.mayEnter() {
				j.enter()
				s.counts.enrolled(c.ID, j.facts.Now)
				j.advance(s.counts.moved)
			}
		default:
			s.counts.ended(j)
			return
		}
	}
}

// entries returns the times at which a contact with these triggers may enter: at the activation
// for a trigger of before, and else when a trigger happens.
func (s *Simulator) entries(triggers []Trigger) []time.Time {
	var entries []time.Time
	for _, t := range triggers {
		switch {
		case !t.At.Before(s.opts.Until):
		case !t.At.Before(s.opts.ActivateAt):
			entries = append(entries, t.At)
		case len(entries) == 0 && !t.At.Before(s.backSince) && (t.Until.IsZero() || t.Until.After(s.opts.ActivateAt)):
			entries = append(entries, s.opts.ActivateAt)
		}
	}
	return entries
}
