package runner

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// enter starts runs for triggers that have happened. more is true if there may be others. It
// forgets entries of another trigger than that of the current version: they were noted before
// the activation that changed it.
func (r *Runner) enter(ctx context.Context, orgID string, w workflows.Workflow) (more bool, err error) {
	if !w.IsLive() {
		return false, nil
	}
	err = r.Transactor.InTx(ctx, func(ctx context.Context) error {
		more = false                                 // the transaction may run again
		w, err := r.Store.Workflow(ctx, orgID, w.ID) // it is locked: contacts enter in turn
		if err != nil || !w.IsLive() {
			return err
		}
		entries, err := r.Entries.Entries(ctx, orgID, w.ID, batch)
		if more = len(entries) == batch; err != nil || len(entries) == 0 {
			return err
		}
		ids, seen := make([]string, len(entries)), map[string]bool{}
		var starting []workflows.Entry
		for i, e := range entries {
			ids[i] = e.ID
			if isOf(e, w.Trigger) && !seen[e.ContactID] {
				seen[e.ContactID] = true
				starting = append(starting, e)
			}
		}
		if err := r.start(ctx, orgID, w, starting); err != nil {
			return err
		}
		return r.Entries.Forget(ctx, orgID, w.ID, ids)
	})
	if errors.Is(err, errInvalid) {
		return false, r.Revalidate(ctx, orgID)
	}
	return more && err == nil, err
}

// isOf reports whether an entry was noted for the trigger.
func isOf(e workflows.Entry, t workflows.Trigger) bool {
	return e.Cause == workflows.CauseOf(t.Kind) && e.SourceKey == t.Key
}

// start starts the runs of those contacts that may enter. The workflow is locked.
func (r *Runner) start(ctx context.Context, orgID string, w workflows.Workflow, entries []workflows.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	p, err := r.plans.of(ctx, orgID, w.ID, w.CurrentVersion)
	if err != nil {
		return err
	}
	entries, err = r.admitted(ctx, orgID, w, p, entries)
	if err != nil {
		return err
	}
	now := r.Clock()
	runs := make([]workflows.Run, len(entries))
	for i, e := range entries {
		runs[i] = workflows.Run{
			ID: core.NewID(), WorkflowID: w.ID, Version: w.CurrentVersion, ContactID: e.ContactID, State: engine.Begin(now),
			Cause: e.Cause, SourceKey: e.SourceKey, StartedAt: now,
		}
	}
	if len(runs) == 0 {
		return nil
	}
	_, err = r.Entries.Enroll(ctx, orgID, w.ID, runs, p.Settings().Reentry == language.Once)
	return err
}

// admitted returns the entries of contacts that meet the condition of the trigger and the rules
// of re-entry. The store checks that a contact has one active run.
func (r *Runner) admitted(ctx context.Context, orgID string, w workflows.Workflow, p plan, entries []workflows.Entry) ([]workflows.Entry, error) {
	settings := p.Settings()
	again := settings.Reentry != language.Once && len(settings.Exits) > 0
	if settings.Where == nil && !again {
		return entries, nil
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ContactID
	}
	subjects, err := r.Subjects.Subjects(ctx, segments.SubjectQuery{OrgID: orgID, Contacts: ids, Schema: p.schema, Refs: p.refs})
	if err != nil {
		return nil, err
	}
	past := map[string]workflows.Run{}
	if again {
		if past, err = r.Entries.Past(ctx, orgID, w.ID, ids); err != nil {
			return nil, err
		}
	}
	now := r.Clock()
	var admitted []workflows.Entry
	for _, e := range entries {
		subject, active := subjects[e.ContactID]
		last, before := past[e.ContactID]
		if active && p.Admits(subject, now) && !(before && last.ExitKind == engine.ByName && p.Leaves(subject, now)) {
			admitted = append(admitted, e)
		}
	}
	return admitted, nil
}
