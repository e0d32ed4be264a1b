package runner

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// batch is the maximum number of runs, entries or contacts in one transaction.
const batch = 500

// move moves due runs of a workflow. more is true if there may be others.
func (r *Runner) move(ctx context.Context, orgID string, w workflows.Workflow) (more bool, err error) {
	if !w.IsLive() {
		return false, nil
	}
	runs, err := r.moveBatch(ctx, orgID, w.ID, batch)
	if errors.Is(err, errInvalid) {
		return false, r.Revalidate(ctx, orgID)
	}
	if err != nil && !isPassing(err) {
		return r.moveOneByOne(ctx, orgID, w, err)
	}
	return len(runs) == batch, err
}

// isPassing reports whether an error is about the database or the process and not about a run.
func isPassing(err error) bool {
	code := core.AsError(err).Code
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || code == core.CodeTemporarilyUnavailable
}

// moveBatch moves up to limit due runs in one transaction. It returns them, also after an error,
// if it has read them. It reads the workflow before, so that a pause has its effect with the
// next batch. It does not lock it, because several processes share its runs.
func (r *Runner) moveBatch(ctx context.Context, orgID, workflowID string, limit int) ([]workflows.Run, error) {
	w, err := r.Store.Workflow(ctx, orgID, workflowID)
	if err != nil || !w.IsLive() {
		return nil, err
	}
	b := &batchOf{}
	err = r.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := r.Clock()
		b = &batchOf{Runner: r, orgID: orgID, workflow: w, now: now}
		var err error
		if b.runs, err = r.Timers.Due(ctx, orgID, w.ID, now, limit); err != nil || len(b.runs) == 0 {
			return err
		}
		return b.move(ctx)
	})
	if err == nil && len(b.mails) > 0 && r.Mailed != nil {
		r.Mailed()
	}
	return b.runs, err
}

// batchOf is one batch of due runs.
type batchOf struct {
	*Runner
	orgID    string
	workflow workflows.Workflow
	now      time.Time
	runs     []workflows.Run

	limit    *language.Cap
	plans    map[int]plan
	subjects map[string]*predicate.Subject
	// mailed has the times of the messages to contacts that have a limit.
	mailed map[string][]time.Time

	events  []workflows.Event
	mails   []workflows.Mail
	changes changes
}

// move moves the runs and stores what they did.
func (b *batchOf) move(ctx context.Context) error {
	if err := b.read(ctx); err != nil {
		return err
	}
	for i := range b.runs {
		b.advance(&b.runs[i])
	}
	if err := b.Timers.Move(ctx, b.orgID, b.workflow.ID, b.runs, b.events); err != nil {
		return err
	}
	if err := b.changes.store(ctx, b.Contacts, b.orgID); err != nil {
		return err
	}
	return b.Mails.AddMails(ctx, b.orgID, b.mails, b.now)
}

// read reads the plans of the runs and the data of their contacts.
func (b *batchOf) read(ctx context.Context) error {
	b.plans = map[int]plan{}
	var refs []predicate.References
	for _, run := range b.runs {
		if _, known := b.plans[run.Version]; known {
			continue
		}
		p, err := b.Runner.plans.of(ctx, b.orgID, b.workflow.ID, run.Version)
		if err != nil {
			return err
		}
		b.plans[run.Version] = p
		refs = append(refs, p.refs)
	}
	contacts := contactsOf(b.runs)
	found, err := b.Subjects.Subjects(ctx, segments.SubjectQuery{
		OrgID: b.orgID, Contacts: contacts, Schema: b.plans[b.runs[0].Version].schema, Refs: predicate.Union(refs...),
	})
	if err != nil {
		return err
	}
	b.subjects = make(map[string]*predicate.Subject, len(found))
	for id, subject := range found {
		b.subjects[id] = &subject
	}
	return b.readMailed(ctx, contacts)
}

// readMailed reads the messages that contacts got lately, if a limit holds for one of the plans.
func (b *batchOf) readMailed(ctx context.Context, contacts []string) error {
	var err error
	if b.limit, err = b.Store.Cap(ctx, b.orgID); err != nil {
		return err
	}
	longest := int64(0)
	for _, p := range b.plans {
		limit := p.Settings().Cap
		if limit == nil {
			limit = b.limit
		}
		if limit != nil && !limit.Off {
			longest = max(longest, limit.Per.Micros())
		}
	}
	if longest > 0 {
		b.mailed, err = b.Mails.Mailed(ctx, b.orgID, contacts, b.now.Add(-time.Duration(longest)*time.Microsecond))
	}
	return err
}

func contactsOf(runs []workflows.Run) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ContactID
	}
	return ids
}

// advance moves one run in memory.
func (b *batchOf) advance(run *workflows.Run) {
	subject := b.subjects[run.ContactID]
	moved := b.plans[run.Version].Advance(run.State, engine.Facts{
		WorkflowID: b.workflow.ID, ContactID: run.ContactID, Subject: subject, Now: b.now, Hold: b.workflow.RequireApproval, Cap: b.limit,
		Mailed: func(since time.Time) int { return b.mailedSince(run.ContactID, since) },
	})
	run.State, run.Faults = moved.State, 0
	for _, e := range moved.Events {
		b.events = append(b.events, workflows.Event{RunID: run.ID, Version: run.Version, Event: e})
		run.ExitKind, run.ExitName = e.Kind, e.Exit
	}
	if run.State.IsOver() {
		run.CompletedAt = &b.now
	}
	for _, effect := range moved.Effects {
		b.note(run, subject, effect)
	}
}

func (b *batchOf) mailedSince(contactID string, since time.Time) int {
	n := 0
	for _, at := range b.mailed[contactID] {
		if !at.Before(since) {
			n++
		}
	}
	return n
}

// note notes an effect, which is stored at the end of the batch.
func (b *batchOf) note(run *workflows.Run, subject *predicate.Subject, effect engine.Effect) {
	switch e := effect.(type) {
	case *engine.Message:
		if b.mailed == nil {
			b.mailed = map[string][]time.Time{}
		}
		b.mailed[run.ContactID] = append(b.mailed[run.ContactID], b.now)
		b.mails = append(b.mails, workflows.Mail{
			Key: core.NewID(), RunID: run.ID, ContactID: run.ContactID, Email: subject.Email,
			Send: workflows.Send{
				ID: workflows.SendID(run.WorkflowID, run.Version, e.Path), WorkflowID: run.WorkflowID, Version: run.Version, Path: e.Path,
				Template: e.Template, Topic: e.Topic, Transactional: e.Transactional,
			},
		})
	case *engine.Assignment:
		b.changes.of(run.ContactID, subject.Email).set(e)
	case *engine.Joining:
		of := b.changes.of(run.ContactID, subject.Email)
		of.lists = append(of.lists, e.ListID)
	}
}
