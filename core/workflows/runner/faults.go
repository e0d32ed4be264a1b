package runner

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

const (
	// maxFaults is the number of attempts at a step after which a run fails.
	maxFaults = 5
	// firstDelay is the wait after the first failed attempt. Each further one is four times as
	// long.
	firstDelay = time.Minute
)

// moveOneByOne moves due runs each in a transaction of its own, after a batch failed. A run that
// fails again is tried later, and has failed after maxFaults attempts. So one run that cannot
// move does not stop the others.
func (r *Runner) moveOneByOne(ctx context.Context, orgID string, w workflows.Workflow, cause error) (more bool, err error) {
	r.Log.WarnContext(ctx, "a batch of runs could not be moved; they are moved one by one", "org_id", orgID, "workflow_id", w.ID, "error", cause)
	for range batch {
		runs, err := r.moveBatch(ctx, orgID, w.ID, 1)
		switch {
		case err != nil && (len(runs) == 0 || isPassing(err) || errors.Is(err, errInvalid)):
			return false, err
		case err != nil:
			if err := r.noteFault(ctx, orgID, w, runs[0].ID, err); err != nil {
				return false, err
			}
		case len(runs) == 0:
			return false, nil
		}
	}
	return true, nil
}

// noteFault counts a failed attempt of a run, which is due first. It does nothing if another is
// now, because another process works on the run.
func (r *Runner) noteFault(ctx context.Context, orgID string, w workflows.Workflow, runID string, cause error) error {
	return r.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := r.Clock()
		due, err := r.Timers.Due(ctx, orgID, w.ID, now, 1)
		if err != nil || len(due) == 0 || due[0].ID != runID {
			return err
		}
		run := &due[0]
		r.Log.ErrorContext(ctx, "a run of a workflow could not move", "org_id", orgID, "workflow_id", w.ID, "run_id", run.ID, "step", run.State.Node, "error", cause)
		var events []workflows.Event
		if run.Faults++; run.Faults < maxFaults {
			run.State.WakeAt = now.Add(firstDelay << (2 * (run.Faults - 1)))
		} else {
			e := engine.Event{Path: run.State.Node, Type: engine.RunFailed, At: now, Detail: "the step could not be done, also when it was repeated"}
			events = []workflows.Event{{RunID: run.ID, Version: run.Version, Event: e}}
			run.State.Status, run.State.WakeAt, run.State.OnChange, run.CompletedAt = engine.Failed, time.Time{}, false, &now
		}
		return r.Timers.Move(ctx, orgID, w.ID, due, events)
	})
}
