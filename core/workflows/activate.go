package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Activation is how a workflow is activated.
type Activation struct {
	// ContentHash is the hash of the draft that the caller has seen, "" for any.
	ContentHash string
	// RequireApproval holds each message until a person approves it.
	RequireApproval bool
}

// Activate makes the draft of a workflow its current version and the workflow active. Existing
// contacts enter if the source says so, at the first activation or after a change of the
// trigger. Runs that have begun keep their version. Activate fails with
// core.CodeValidationFailed for a source with faults, and with core.CodeConflict if there is no
// draft, or another one than the caller has seen.
func (e *Editor) Activate(ctx context.Context, orgID, id string, a Activation) (Workflow, error) {
	var changed Workflow
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		w, err := e.Store.Workflow(ctx, orgID, id)
		if err == nil {
			changed, err = e.activateIn(ctx, orgID, w, a, e.Clock())
		}
		return err
	})
	if err == nil {
		e.wake()
	}
	return changed, err
}

// activateIn activates a workflow that the transaction of the context has locked.
func (e *Editor) activateIn(ctx context.Context, orgID string, w Workflow, a Activation, now time.Time) (Workflow, error) {
	p, err := e.activatable(ctx, orgID, w)
	if err != nil {
		return w, err
	}
	if a.ContentHash != "" && a.ContentHash != p.draft.ContentHash {
		return w, core.Conflict("The draft was saved again since you read it.", "Read it again, then activate it.")
	}
	p.draft.ActivatedAt = &now
	if err := e.Store.SaveVersion(ctx, orgID, w.ID, p.draft); err != nil {
		return w, err
	}
	w = p.applyTo(w, now)
	w.RequireApproval, w.UpdatedAt = a.RequireApproval, now
	return w, e.Store.Update(ctx, orgID, w)
}

// plannedActivation is a draft that can be activated.
type plannedActivation struct {
	draft   Version
	checked *language.Checked
	trigger Trigger
	// starts is true at the first activation and after a change of the trigger.
	starts bool
}

// activatable returns the draft of a workflow if it can be activated.
func (e *Editor) activatable(ctx context.Context, orgID string, w Workflow) (plannedActivation, error) {
	switch {
	case w.Status == Archived:
		return plannedActivation{}, refuseStatus(w, "activated")
	case w.DraftVersion == 0:
		return plannedActivation{}, core.Conflict("The workflow has no draft: its newest version is the current one, and its status is "+core.Quote(string(w.Status))+".", "Save a change before you activate it.")
	}
	draft, err := e.Store.Version(ctx, orgID, w.ID, w.DraftVersion)
	if err != nil {
		return plannedActivation{}, err
	}
	review, err := e.Review(ctx, orgID, draft.Source)
	if err != nil {
		return plannedActivation{}, err
	}
	if review.HasFaults() {
		return plannedActivation{}, invalidSource(review.Diagnostics)
	}
	trigger := TriggerOf(review.Checked.Tree().Settings.Trigger, review.Schema.Segments)
	return plannedActivation{
		draft: draft, checked: review.Checked, trigger: trigger, starts: w.CurrentVersion == 0 || trigger.Kind != w.Trigger.Kind || trigger.Source != w.Trigger.Source,
	}, nil
}

// applyTo returns the workflow after the activation.
func (p plannedActivation) applyTo(w Workflow, now time.Time) Workflow {
	w.Status, w.StatusBefore, w.InvalidReason = Active, "", ""
	w.Name, w.CurrentVersion, w.DraftVersion = p.checked.Tree().Name, p.draft.Number, 0
	w.Trigger, w.ActivatedAt = p.trigger, &now
	w.WaitsForChange = w.WaitsForChange || engine.Compile(p.checked).WaitsForChange()
	if !p.starts {
		return w
	}
	w.Backfill, w.SweptUntil = nil, time.Time{}
	existing, since := ExistingOf(p.checked.Tree().Settings, now)
	switch {
	case p.trigger.Kind == OnDate && existing:
		w.SweptUntil = since
	case p.trigger.Kind == OnDate:
		w.SweptUntil = now
	case existing:
		w.Backfill = &Backfill{Since: since, At: now}
	}
	return w
}

// ExistingOf reports whether contacts enter for whom the trigger happened before now, and
// since when; a zero time means any time.
func ExistingOf(s language.Settings, now time.Time) (existing bool, since time.Time) {
	if s.Enroll == nil {
		return s.Trigger.Kind == language.OnSegment, time.Time{}
	}
	if s.Enroll.Existing && s.Enroll.Since != (language.Duration{}) {
		since = now.Add(-time.Duration(s.Enroll.Since.Micros()) * time.Microsecond)
	}
	return s.Enroll.Existing, since
}
