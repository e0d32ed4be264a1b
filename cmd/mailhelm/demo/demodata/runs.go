package demodata

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

const (
	// quiet is the time after the start of the demo in which no timer of a run of the past
	// ends.
	quiet = time.Hour
	// decidedAfter is how many days after a message was held a person approved it, at
	// decidedAt. So the messages of the last days are still held.
	decidedAfter = 3
	decidedAt    = 9 * time.Hour
)

// entrance is the time at which a contact enters a workflow.
type entrance struct {
	contact contacts.Contact
	at      time.Time
}

// pastRun is a run with its timeline and its messages.
type pastRun struct {
	workflows.Run
	events []workflows.Event
	mails  []runMail
}

// runMail is a message of a run that the sending account accepted at the time.
type runMail struct {
	workflows.Mail
	at        time.Time
	messageID string
}

// walker computes the runs of a workflow of the past with package engine, as the runner does.
type walker struct {
	plan     *engine.Plan
	workflow workflows.Workflow
	now      time.Time
	outbox   *outbox
}

// runs computes the runs of a workflow from its activation until now and stores them.
func (p Past) runs(ctx context.Context, orgID string, w workflows.Workflow, d demoWorkflow, outbox *outbox) error {
	entrances, err := p.entrances(ctx, orgID, w, outbox)
	if err != nil {
		return err
	}
	review, err := p.Domains.Workflows.Review(ctx, orgID, d.source)
	if err != nil {
		return err
	}
	walks := walker{engine.Compile(review.Checked), w, p.Clock(), outbox}
	subjects, err := p.subjects(ctx, orgID, walks.plan, entrances)
	if err != nil {
		return err
	}
	var all []pastRun
	for _, e := range entrances {
		run, err := walks.walk(e, subjects[e.contact.ID])
		if err != nil {
			return err
		}
		if wakes := run.State.WakeAt; run.events != nil && (wakes.IsZero() || wakes.After(walks.now.Add(quiet))) {
			all = append(all, run)
		}
	}
	return p.storeRuns(ctx, orgID, w, all)
}

// entrances returns who enters a workflow and when, in the order of time; each contact once.
func (p Past) entrances(ctx context.Context, orgID string, w workflows.Workflow, outbox *outbox) ([]entrance, error) {
	people, err := p.DB.Contacts().Contacts(ctx, orgID, contacts.ContactFilter{Limit: PeopleCount})
	if err != nil {
		return nil, err
	}
	var all []entrance
	var signups []activities.Activity
	for _, c := range people {
		at := outbox.welcomed(c.Email, *w.ActivatedAt)
		if w.Trigger.Kind == workflows.OnDate {
			text, _ := c.Attributes[w.Trigger.Source].(string)
			date, err := time.Parse(time.RFC3339, text)
			if at = date.AddDate(0, 0, 30); err != nil || at.Before(*w.ActivatedAt) || at.After(p.Clock()) {
				continue
			}
		} else if !at.IsZero() {
			signups = append(signups, activities.Activity{
				ID: core.NewID(), ContactID: c.ID, Name: w.Trigger.Source, OccurredAt: at, ReceivedAt: at, Source: activities.FromAPI, Properties: []byte(`{}`),
			})
		}
		if !at.IsZero() {
			all = append(all, entrance{c, at})
		}
	}
	slices.SortFunc(all, func(a, b entrance) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.contact.Email, b.contact.Email))
	})
	if len(signups) == 0 {
		return all, nil
	}
	return all, p.DB.Activities().Insert(ctx, orgID, signups)
}

// subjects returns what the conditions of the workflow read of the contacts, with events in the
// order of time.
func (p Past) subjects(ctx context.Context, orgID string, plan *engine.Plan, of []entrance) (map[string]predicate.Subject, error) {
	schema, err := p.DB.Segments().PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	q := segments.SubjectQuery{OrgID: orgID, Schema: schema, Refs: plan.References()}
	for _, e := range of {
		q.Contacts = append(q.Contacts, e.contact.ID)
	}
	found, err := p.DB.Subjects().Subjects(ctx, q)
	for _, s := range found {
		slices.SortFunc(s.Events, func(a, b predicate.Occurrence) int { return cmp.Compare(a.At, b.At) })
	}
	return found, err
}

// walk lets a contact run through the workflow until now. The run of a contact that the
// condition of the trigger does not admit has no events.
func (w walker) walk(e entrance, subject predicate.Subject) (pastRun, error) {
	all := subject.Events
	run := pastRun{Run: workflows.Run{
		ID: core.NewID(), WorkflowID: w.workflow.ID, Version: w.workflow.CurrentVersion, ContactID: e.contact.ID, State: engine.Begin(e.at),
		Cause: workflows.CauseOf(w.workflow.Trigger.Kind), SourceKey: w.workflow.Trigger.Key, StartedAt: e.at,
	}}
	for at := e.at; !at.IsZero() && !at.After(w.now); {
		subject.Events = eventsUntil(all, at)
		subject.Suppressed = w.outbox.more.Excluded(e.contact.Email, at)
		if run.events == nil && !w.plan.Admits(subject, at) {
			return run, nil
		}
		moved := w.plan.Advance(run.State, engine.Facts{
			WorkflowID: w.workflow.ID, ContactID: e.contact.ID, Subject: &subject, Now: at, Hold: w.workflow.RequireApproval,
		})
		if err := w.add(&run, e.contact.Email, moved, at); err != nil {
			return run, err
		}
		at = w.next(&run, all, at)
	}
	return run, nil
}

// add adds what a run did at the time.
func (w walker) add(run *pastRun, email string, moved engine.Moved, at time.Time) error {
	run.State = moved.State
	for _, e := range moved.Events {
		run.events = append(run.events, workflows.Event{RunID: run.ID, Version: run.Version, Event: e})
		run.ExitKind, run.ExitName = e.Kind, e.Exit
	}
	if run.State.IsOver() {
		run.CompletedAt = &at
	}
	for _, effect := range moved.Effects {
		message, is := effect.(*engine.Message)
		if !is {
			continue // no workflow of the demo changes contacts
		}
		id, err := w.outbox.send(email, message.Template, at)
		if err != nil {
			return err
		}
		send := workflows.Send{
			ID: workflows.SendID(run.WorkflowID, run.Version, message.Path), WorkflowID: run.WorkflowID, Version: run.Version, Path: message.Path,
			Template: message.Template, Topic: message.Topic, Transactional: message.Transactional,
		}
		run.mails = append(run.mails, runMail{workflows.Mail{Key: core.NewID(), Send: send, RunID: run.ID, ContactID: run.ContactID, Email: email}, at, id})
	}
	return nil
}

// next returns the time at which a run continues, zero if it has ended or is held until after
// now. A message is accepted at once, and a person approves a held one some days later.
func (w walker) next(run *pastRun, events []predicate.Occurrence, at time.Time) time.Time {
	switch {
	case run.State.IsOver():
		return time.Time{}
	case run.State.Phase == engine.Sending:
		run.State.Phase = engine.Sent
		return at
	case run.State.Phase == engine.Held:
		decided := at.UTC().Truncate(24*time.Hour).AddDate(0, 0, decidedAfter).Add(decidedAt)
		if decided.After(w.now) {
			return time.Time{}
		}
		run.State.Phase = engine.Approved
		return decided
	}
	if n := len(eventsUntil(events, at)); run.State.OnChange && n < len(events) {
		if event := time.UnixMicro(events[n].At).UTC(); event.Before(run.State.WakeAt) {
			return event
		}
	}
	return run.State.WakeAt
}

// eventsUntil returns the events until the time. events are in the order of time.
func eventsUntil(events []predicate.Occurrence, at time.Time) []predicate.Occurrence {
	n, _ := slices.BinarySearchFunc(events, at.UnixMicro()+1, func(e predicate.Occurrence, micros int64) int { return cmp.Compare(e.At, micros) })
	return events[:n:n]
}

// storeRuns stores runs with their timelines, and their messages with the answers of the
// sending account.
func (p Past) storeRuns(ctx context.Context, orgID string, w workflows.Workflow, all []pastRun) error {
	var runs []workflows.Run
	var events []workflows.Event
	for _, run := range all {
		runs, events = append(runs, run.Run), append(events, run.events...)
	}
	config := p.Domains.Workflows.Config
	if _, err := config.Entries.Enroll(ctx, orgID, w.ID, runs, false); err != nil {
		return err
	}
	if err := config.Timers.Move(ctx, orgID, w.ID, runs, events); err != nil {
		return err
	}
	mails, sends := workflowstore.NewMailStore(p.DB.DB), map[string]int{}
	for _, run := range all {
		for _, m := range run.mails {
			sends[m.Send.ID]++
			if err := mails.AddMails(ctx, orgID, []workflows.Mail{m.Mail}, m.at); err != nil {
				return err
			}
			if err := p.DB.Handover().Claim(ctx, orgID, m.Send.ID, []handover.Recipient{{Key: m.Key, CreatedAt: m.at}}, "demo", m.at); err != nil {
				return err
			}
			answer := handover.Answer{Key: m.Key, CreatedAt: m.at, Attempt: 1, Verdict: handover.Accepted, MessageID: m.messageID}
			if err := p.DB.Handover().Answer(ctx, orgID, m.Send.ID, []handover.Answer{answer}, m.at); err != nil {
				return err
			}
		}
	}
	for id, n := range sends {
		if _, err := mails.Settle(ctx, orgID, id, p.Clock(), n); err != nil {
			return err
		}
	}
	return nil
}
