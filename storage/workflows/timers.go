package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// TimerStore stores the timers of runs.
type TimerStore struct{ db *db.DB }

var _ workflows.TimerStore = TimerStore{}

// NewTimerStore returns the store of timers on the database.
func NewTimerStore(on *db.DB) TimerStore { return TimerStore{on} }

// sweepEvery is the interval at which the dates of a date trigger are looked for.
const sweepEvery = time.Minute

var (
	// busyWorkflows reads the workflows of the partial index workflows_open, and for each of
	// them at most one row of the indexes of timers and of entries. The subqueries have an order
	// and a limit, because PostgreSQL would read all runs of all workflows for an EXISTS.
	busyWorkflows = db.Register("busy workflows", `
		SELECT w.org_id, w.id FROM workflows AS w
		WHERE w.open AND (w.closing OR w.backfill <> '' OR w.trigger_kind = 'date' AND w.swept_until <= $1
			OR (SELECT r.wake_at FROM workflow_runs AS r WHERE r.org_id = w.org_id AND r.workflow_id = w.id AND r.wake_at <= $2 ORDER BY r.wake_at LIMIT 1) IS NOT NULL
			OR (SELECT e.id FROM workflow_entries AS e WHERE e.org_id = w.org_id AND e.workflow_id = w.id ORDER BY e.id LIMIT 1) IS NOT NULL)
			AND `+db.NotDeleted("w.org_id")+`
		ORDER BY random() LIMIT $3`)
	dueRuns = db.Register("due runs", `
		SELECT `+runColumns+` FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.wake_at <= $3
		ORDER BY r.wake_at, r.id LIMIT $4`)
	// lockDueRuns skips runs that another process is about to move. SQLite has one writer at a
	// time.
	lockDueRuns = db.Register("lock due runs", `
		SELECT `+runColumns+` FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.wake_at <= $3
		ORDER BY r.wake_at, r.id LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/`)
	// moveRuns finds the runs by the primary key: all its columns are in the rows. The first
	// condition lets PostgreSQL expect one row of the parameter; see package handover.
	moveRuns = db.Register("move runs", `
		UPDATE workflow_runs SET status = v ->> 'status', node_path = v ->> 'node', phase = v ->> 'phase', until_at = CAST(v ->> 'until' AS bigint),
			wake_at = CAST(v ->> 'wake' AS bigint), on_change = CASE CAST(v ->> 'change' AS text) WHEN 'true' THEN TRUE WHEN '1' THEN TRUE ELSE FALSE END,
			passed = CASE CAST(v ->> 'passed' AS text) WHEN 'true' THEN TRUE WHEN '1' THEN TRUE ELSE FALSE END, passes = v ->> 'passes',
			completed_at = CAST(v ->> 'completed' AS bigint), exit_kind = v ->> 'kind', exit_name = v ->> 'name', faults = CAST(v ->> 'faults' AS bigint)
		FROM `+db.ParameterRows(`$1`)+`
		WHERE /*pg v ->> 'id' = coalesce(v ->> 'id', '') AND*/ org_id = v ->> 'org' AND workflow_id = v ->> 'workflow' AND id = v ->> 'id'`)
	addEvents = db.Register("add workflow events", `
		INSERT INTO workflow_events (org_id, workflow_id, `+eventColumns+`)
		SELECT $1, $2, v ->> 'run', v ->> 'id', CAST(v ->> 'version' AS bigint), v ->> 'node', v ->> 'type', CAST(v ->> 'at' AS bigint),
			CAST(v ->> 'iteration' AS bigint), v ->> 'arm', v ->> 'tier', v ->> 'reason', v ->> 'kind', v ->> 'name', v ->> 'detail'
		FROM `+db.ParameterRows(`$3`)+` WHERE TRUE`)
	activeRuns = db.Register("active runs of a workflow", `
		SELECT `+runColumns+` FROM workflow_runs AS r WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.status = 'active'
		ORDER BY r.id LIMIT $3 /*pg FOR UPDATE*/`)
	activeRunsOfContact = db.Register("active runs of a contact", `
		SELECT `+runColumns+` FROM workflow_runs AS r WHERE r.org_id = $1 AND r.contact_id = $2 AND r.status = 'active'
		ORDER BY r.workflow_id, r.id /*pg FOR UPDATE*/`)
	liveWorkflows = db.Register("live workflows", `
		SELECT `+columns+` FROM workflows AS w WHERE w.org_id = $1 AND w.status IN ('active', 'paused', 'invalid') ORDER BY w.created_at, w.id`)
)

func (s TimerStore) Busy(ctx context.Context, now time.Time, limit int) ([]workflows.Busy, error) {
	type busyRow struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	return db.ListAs(ctx, s.db, func(r busyRow) workflows.Busy { return workflows.Busy{OrgID: r.OrgID, WorkflowID: r.ID} },
		busyWorkflows, db.At(now.Add(-sweepEvery)), db.At(now), limit)
}

func (s TimerStore) Due(ctx context.Context, orgID, workflowID string, now time.Time, limit int) ([]workflows.Run, error) {
	return db.ListParsed(ctx, s.db, runRow.run, s.db.LockedInside(ctx, dueRuns, lockDueRuns), orgID, workflowID, db.At(now), limit)
}

func (s TimerStore) Move(ctx context.Context, orgID, workflowID string, runs []workflows.Run, events []workflows.Event) error {
	moved, err := storedRuns(orgID, runs)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, moveRuns, moved); err != nil {
		return err
	}
	return addTimeline(ctx, s.db, orgID, workflowID, events)
}

// addTimeline adds events.
func addTimeline(ctx context.Context, on *db.DB, orgID, workflowID string, events []workflows.Event) error {
	if len(events) == 0 {
		return nil
	}
	added, err := storedEvents(events)
	if err != nil {
		return err
	}
	_, err = on.Exec(ctx, addEvents, orgID, workflowID, added)
	return err
}

func (s TimerStore) EndRuns(ctx context.Context, orgID, workflowID string, now time.Time, limit int) (int, error) {
	ended := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		runs, err := db.ListParsed(ctx, s.db, runRow.run, activeRuns, orgID, workflowID, limit)
		if err != nil {
			return err
		}
		ended = len(runs)
		return s.end(ctx, orgID, workflowID, runs, now)
	})
	return ended, err
}

// end ends active runs of a workflow.
func (s TimerStore) end(ctx context.Context, orgID, workflowID string, runs []workflows.Run, now time.Time) error {
	events := make([]workflows.Event, len(runs))
	for i := range runs {
		r := &runs[i]
		r.State.Status, r.State.Phase, r.State.WakeAt, r.State.Until, r.State.OnChange = engine.Exited, engine.Entering, time.Time{}, time.Time{}, false
		r.CompletedAt, r.ExitKind = &now, engine.ByArchive
		events[i] = workflows.Event{RunID: r.ID, Version: r.Version, Event: engine.Event{
			Path: r.State.Node, Type: engine.RunExited, At: now, Iteration: iterationOf(runs[i].State, r.State.Node), Kind: engine.ByArchive,
		}}
	}
	return s.Move(ctx, orgID, workflowID, runs, events)
}

func (s TimerStore) EndRunsOf(ctx context.Context, orgID, contactID string, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		runs, err := db.ListParsed(ctx, s.db, runRow.run, activeRunsOfContact, orgID, contactID)
		if err != nil {
			return err
		}
		for _, run := range runs { // few: a contact has at most one in a workflow
			if err := s.end(ctx, orgID, run.WorkflowID, []workflows.Run{run}, now); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s TimerStore) AllLive(ctx context.Context, orgID string) ([]workflows.Workflow, error) {
	return db.ListParsed(ctx, s.db, row.workflow, liveWorkflows, orgID)
}
