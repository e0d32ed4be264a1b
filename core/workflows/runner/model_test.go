package runner_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/engine/enginetest"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// modelWorkflow is a workflow in memory: what a runner must do with it, without storage, timers,
// locks or transactions.
type modelWorkflow struct {
	id     string
	schema predicate.Schema
	status workflows.Status
	hold   bool
	// versions are those that were activated. New runs begin in the last one.
	versions []*language.Checked
	people   []*modelPerson
}

// modelPerson is a contact in memory.
type modelPerson struct {
	id, name string
	subject  *predicate.Subject
	archived bool
	// entries is the number of triggers that have happened and that no runner has seen.
	entries int
	runs    []*modelRun
	// mailed has the times of messages that are not filtered or failed, by run and number.
	mailed map[mailKey]time.Time
	// edits has the changes that are still to be stored.
	edits []func(*contacts.Contact)
}

type mailKey struct{ run, number int }

// modelRun is a run in memory.
type modelRun struct {
	*enginetest.Model
	version int
	begun   bool
	// messages has the messages that the run has sent.
	messages []*engine.Message
}

func (p *modelPerson) active() *modelRun {
	if n := len(p.runs); n > 0 && !p.runs[n-1].Over {
		return p.runs[n-1]
	}
	return nil
}

// outcome is the outcome of a message, as the database has it.
type outcome struct {
	key, path string
	// state is the outcome with which the run continued, handed that which is known now.
	state, handed handover.State
	reason        string
}

// settle lets all happen that is due. outcomes returns the outcomes of the messages of a run.
// It returns a fault, "" for none.
func (w *modelWorkflow) settle(now time.Time, outcomes func(*modelPerson, int) []outcome) string {
	for _, p := range w.people {
		if p.entries > 0 && w.status == workflows.Active {
			w.enter(p, now)
		}
		for goes := true; goes; {
			goes = false
			r := p.active()
			if r == nil {
				break
			}
			r.Now, r.Hold = now, w.hold
			if p.archived {
				r.Subject = nil
			}
			if w.status == workflows.Active && r.wakes() {
				r.proceed(p)
			}
			if r.Over || !r.Sending || r.Sent {
				continue
			}
			known, fault := r.learn(p, outcomes(p, len(p.runs)-1))
			if fault != "" {
				return p.name + " " + fault
			}
			goes = known
		}
	}
	return ""
}

// wakes reports whether something lets the run continue.
func (r *modelRun) wakes() bool {
	return !r.begun || r.OnChange || r.Sent || r.Decision != "" || !r.Wake.IsZero() && !r.Wake.After(r.Now)
}

// proceed continues the run.
func (r *modelRun) proceed(p *modelPerson) {
	r.begun, r.Mailed = true, nil
	for _, at := range p.mailed {
		r.Mailed = append(r.Mailed, at)
	}
	before := len(r.Effects)
	r.Resume()
	for _, e := range r.Effects[before:] {
		if m, ok := e.(*engine.Message); ok {
			p.mailed[mailKey{len(p.runs), len(r.messages)}] = r.Now
			r.messages = append(r.messages, m)
		}
	}
}

// learn takes over the outcome of the message for which the run waits. It reports false if the
// message has none yet.
func (r *modelRun) learn(p *modelPerson, of []outcome) (known bool, fault string) {
	number := len(r.messages) - 1
	if len(of) <= number {
		return false, "has no message of the step " + r.Path
	}
	tier, reason := r.consent(p)
	o := of[number]
	switch o.state {
	case handover.Sent:
	case handover.Failed:
		r.Note(engine.Event{Type: engine.SendFailed, Detail: o.reason})
	case handover.Filtered:
		if tier == "" {
			return false, "was filtered at the step " + r.Path
		}
		r.Note(engine.Event{Type: engine.SendFiltered, Tier: tier, Reason: reason})
	default:
		return false, ""
	}
	if o.state != handover.Sent {
		delete(p.mailed, mailKey{len(p.runs), number})
	}
	r.Sent = true
	return true, ""
}

// consent returns why the contact must not get the message of the run now.
func (r *modelRun) consent(p *modelPerson) (engine.Tier, engine.Reason) {
	switch {
	case !p.archived:
		return r.Consent(r.Message)
	case p.subject.Suppressed:
		return engine.ByAccount, engine.Suppressed
	}
	return engine.ByAccount, engine.UnsubscribedAll
}

// enter starts a run if the trigger and the rules of re-entry let the contact enter.
func (w *modelWorkflow) enter(p *modelPerson, now time.Time) {
	p.entries = 0
	checked := w.versions[len(w.versions)-1]
	settings := checked.Tree().Settings
	if p.active() != nil || settings.Reentry == language.Once && len(p.runs) > 0 {
		return
	}
	holds := func(tree *predicate.Tree) bool {
		return checked.Condition(tree).Match(*p.subject, now) == predicate.True
	}
	if settings.Where != nil && (p.archived || !holds(settings.Where)) {
		return
	}
	leaves := slices.ContainsFunc(settings.Exits, func(e language.Exit) bool { return holds(e.When) })
	if n := len(p.runs); n > 0 && settings.Reentry != language.Once && len(settings.Exits) > 0 {
		if last := p.runs[n-1]; p.archived || leaves && last.Events[len(last.Events)-1].Kind == engine.ByName {
			return
		}
	} else if n == 0 && settings.Reentry != language.Once && len(settings.Exits) > 0 && p.archived {
		return
	}
	r := &modelRun{version: len(w.versions), Model: &enginetest.Model{Checked: checked, Schema: w.schema, Subject: p.subject, Now: now, Hold: w.hold}}
	r.Note(engine.Event{Type: engine.Enrolled})
	r.IsHeldOut = func(path string, percent int) bool { return chance("hold out", w.id, path, p.id) < percent }
	r.ShareOf = func(path string, shares []language.Share) int {
		point, upTo := chance("split", w.id, path, p.id), 0
		for i, share := range shares {
			if upTo += share.Percent; point < upTo {
				return i
			}
		}
		return -1
	}
	r.Start()
	p.runs = append(p.runs, r)
}

// end ends all runs, as archiving the workflow does.
func (w *modelWorkflow) end(now time.Time) {
	w.status = workflows.Archived
	for _, p := range w.people {
		if r := p.active(); r != nil {
			end := engine.Event{Path: r.Path, Type: engine.RunExited, Kind: engine.ByArchive, At: now}
			if last := r.Events[len(r.Events)-1]; last.Path == r.Path {
				end.Iteration = last.Iteration
			}
			r.Events = append(r.Events, end)
			r.Over = true
			r.Stop()
		}
	}
}

// chance returns the number from 0 to 99 that decides the cohort of a contact at a step.
func chance(parts ...string) int {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(append([]byte(part), 0))
	}
	return int(binary.BigEndian.Uint64(hash.Sum(nil)) % 100)
}
