package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// change reads and locks a workflow, and stores what edit returns.
func (e *Editor) change(ctx context.Context, orgID, id string, edit func(context.Context, Workflow) (Workflow, error)) (Workflow, error) {
	var changed Workflow
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		found, err := e.Store.Workflow(ctx, orgID, id)
		if err != nil {
			return err
		}
		if changed, err = edit(ctx, found); err != nil {
			return err
		}
		changed.UpdatedAt = e.Clock()
		return e.Store.Update(ctx, orgID, changed)
	})
	if err == nil {
		e.wake()
	}
	return changed, err
}

// refuseStatus returns the refusal of a change in the status of the workflow.
func refuseStatus(w Workflow, what string) *core.Error {
	return core.Conflict(fmt.Sprintf("A workflow with the status %s cannot be %s.", core.Quote(string(w.Status)), what), "Read the workflow again to see what can be done with it.")
}

// Pause stops a workflow: no contact enters, and no run moves, until it is resumed. Messages
// that were passed to the account already still leave.
func (e *Editor) Pause(ctx context.Context, orgID, id string) (Workflow, error) {
	return e.change(ctx, orgID, id, func(_ context.Context, w Workflow) (Workflow, error) {
		switch {
		case w.Status == Active:
			w.Status = Paused
		case w.Status == Invalid && w.StatusBefore == Active:
			w.StatusBefore = Paused
		default:
			return w, refuseStatus(w, "paused")
		}
		return w, nil
	})
}

// Resume lets a paused workflow go on. Waits that ended in the meantime are over. Resume fails
// with core.CodeValidationFailed if the current version names something that does not exist
// any more.
func (e *Editor) Resume(ctx context.Context, orgID, id string) (Workflow, error) {
	return e.change(ctx, orgID, id, func(ctx context.Context, w Workflow) (Workflow, error) {
		if w.Status != Paused {
			return w, refuseStatus(w, "resumed")
		}
		current, err := e.Store.Version(ctx, orgID, w.ID, w.CurrentVersion)
		if err != nil {
			return w, err
		}
		review, err := e.Review(ctx, orgID, current.Source)
		if err != nil {
			return w, err
		}
		if review.HasFaults() {
			return w, invalidSource(review.Diagnostics)
		}
		w.Status = Active
		return w, nil
	})
}

// Archive ends a workflow for good. The runner ends its active runs soon after.
func (e *Editor) Archive(ctx context.Context, orgID, id string) (Workflow, error) {
	return e.change(ctx, orgID, id, func(_ context.Context, w Workflow) (Workflow, error) {
		if w.Status == Archived {
			return w, refuseStatus(w, "archived again")
		}
		w.Closing = w.CurrentVersion > 0
		w.Status, w.StatusBefore, w.InvalidReason, w.Backfill = Archived, "", "", nil
		return w, nil
	})
}

// SetApproval sets whether each message of the workflow waits for a person. Messages that wait
// already go on waiting.
func (e *Editor) SetApproval(ctx context.Context, orgID, id string, required bool) (Workflow, error) {
	return e.change(ctx, orgID, id, func(_ context.Context, w Workflow) (Workflow, error) {
		if w.Status == Archived {
			return w, refuseStatus(w, "changed")
		}
		w.RequireApproval = required
		return w, nil
	})
}

// maxDecisions is the maximum number of runs in one decision.
const maxDecisions = 500

// Decide stores a decision about the held messages of runs: engine.Approved sends them,
// engine.Skipped goes on without them, engine.Cancelled ends the runs. It returns the ids of
// the runs that still had one.
func (e *Editor) Decide(ctx context.Context, orgID, workflowID string, runIDs []string, decision engine.Phase) ([]string, error) {
	switch {
	case decision != engine.Approved && decision != engine.Skipped && decision != engine.Cancelled:
		return nil, core.Invalid("decision", "must be approved, skipped or cancelled")
	case len(runIDs) == 0 || len(runIDs) > maxDecisions:
		return nil, core.Invalid("run_ids", fmt.Sprintf("must name 1 to %d runs", maxDecisions))
	}
	var decided []string
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		w, err := e.Store.Workflow(ctx, orgID, workflowID)
		if err != nil {
			return err
		}
		if w.Status == Archived {
			return refuseStatus(w, "sent")
		}
		decided, err = e.Holds.Decide(ctx, orgID, w.ID, runIDs, decision, e.Clock())
		return err
	})
	if err == nil {
		e.wake()
	}
	return decided, err
}

// Limits of the organization's limit of messages to a contact.
const (
	maxCapMessages = 1000
	maxCapDays     = 365
)

// Cap returns the limit of messages of workflows to a contact, nil for none. It holds for
// workflows without a limit of their own.
func (e *Editor) Cap(ctx context.Context, orgID string) (*language.Cap, error) {
	return e.Store.Cap(ctx, orgID)
}

// SetCap stores the limit of [Editor.Cap]; nil removes it.
func (e *Editor) SetCap(ctx context.Context, orgID string, limit *language.Cap) error {
	if limit != nil {
		const day = 24 * 60 * 60 * 1_000_000 // microseconds
		switch {
		case limit.Messages < 1 || limit.Messages > maxCapMessages:
			return core.Invalid("messages", fmt.Sprintf("must be from 1 to %d", maxCapMessages))
		case limit.Per.Micros() <= 0 || limit.Per.Micros() > maxCapDays*day:
			return core.Invalid("per", fmt.Sprintf("must be longer than nothing and at most %d days", maxCapDays))
		}
	}
	return e.Transactor.InTx(ctx, func(ctx context.Context) error { return e.Store.SetCap(ctx, orgID, limit) })
}
