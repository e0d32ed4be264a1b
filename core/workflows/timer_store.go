package workflows

import (
	"context"
	"time"
)

// TimerStore has the timers of runs. Except for Busy, every method sees only the given
// organization; all take part in the transaction of the context.
type TimerStore interface {
	// Busy returns up to limit live workflows of all organizations that have something to do
	// at the time: a timer that has ended, an entry, a date to look for or a backfill. The
	// order is random, so that no organization comes last every time.
	Busy(ctx context.Context, now time.Time, limit int) ([]Busy, error)

	// Due returns up to limit active runs of a workflow whose WakeAt has come, the oldest
	// first. In a transaction it locks them until the transaction ends, and skips those that
	// another transaction has locked.
	Due(ctx context.Context, orgID, workflowID string, now time.Time, limit int) ([]Run, error)
	// Move stores the states of runs and adds events.
	Move(ctx context.Context, orgID, workflowID string, runs []Run, events []Event) error
	// EndRuns ends up to limit active runs of an archived workflow and returns their number.
	EndRuns(ctx context.Context, orgID, workflowID string, now time.Time, limit int) (int, error)
	// EndRunsOf ends all active runs of a contact whose data is erased.
	EndRunsOf(ctx context.Context, orgID, contactID string, now time.Time) error
	// AllLive returns the workflows of an organization that are active, paused or invalid.
	AllLive(ctx context.Context, orgID string) ([]Workflow, error)
}

// Busy is a workflow that has something to do.
type Busy struct {
	OrgID, WorkflowID string
}
