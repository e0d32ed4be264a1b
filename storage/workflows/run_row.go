package workflows

import (
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// runRow is a run as it is read, and as it is written in parameters with many rows.
type runRow struct {
	Org         string   `db:"-" json:"org"`
	WorkflowID  string   `db:"workflow_id" json:"workflow"`
	ID          string   `db:"id" json:"id"`
	Version     int      `db:"version" json:"version"`
	ContactID   string   `db:"contact_id" json:"contact"`
	Status      string   `db:"status" json:"status"`
	NodePath    string   `db:"node_path" json:"node"`
	Phase       string   `db:"phase" json:"phase"`
	UntilAt     *db.Time `db:"until_at" json:"until"`
	WakeAt      *db.Time `db:"wake_at" json:"wake"`
	OnChange    bool     `db:"on_change" json:"change"`
	Passed      bool     `db:"passed" json:"passed"`
	Passes      string   `db:"passes" json:"passes"`
	Cause       string   `db:"cause" json:"cause"`
	SourceKey   string   `db:"source_key" json:"source"`
	StartedAt   db.Time  `db:"started_at" json:"started"`
	CompletedAt *db.Time `db:"completed_at" json:"completed"`
	ExitKind    string   `db:"exit_kind" json:"kind"`
	ExitName    string   `db:"exit_name" json:"name"`
	Faults      int      `db:"faults" json:"faults"`
}

const runColumns = `r.workflow_id, r.id, r.version, r.contact_id, r.status, r.node_path, r.phase, r.until_at, r.wake_at, r.on_change, r.passed, r.passes,
		r.cause, r.source_key, r.started_at, r.completed_at, r.exit_kind, r.exit_name, r.faults`

// run converts the row.
func (r runRow) run() (workflows.Run, error) {
	run := workflows.Run{
		ID: r.ID, WorkflowID: r.WorkflowID, Version: r.Version, ContactID: r.ContactID,
		State: engine.State{
			Status: engine.Status(r.Status), Node: r.NodePath, Phase: engine.Phase(r.Phase), Until: timerOf(r.UntilAt), WakeAt: timerOf(r.WakeAt),
			OnChange: r.OnChange, Passed: r.Passed,
		},
		Cause: workflows.Cause(r.Cause), SourceKey: r.SourceKey, StartedAt: r.StartedAt.Time(), CompletedAt: db.OptionalTime(r.CompletedAt),
		ExitKind: engine.ExitKind(r.ExitKind), ExitName: r.ExitName, Faults: r.Faults,
	}
	if r.Passes == "" {
		return run, nil
	}
	if err := json.Unmarshal([]byte(r.Passes), &run.State.Passes); err != nil {
		return workflows.Run{}, fmt.Errorf("storage: passes of a run: %w", err)
	}
	return run, nil
}

// storedRun returns the row of a run.
func storedRun(orgID string, r workflows.Run) (runRow, error) {
	passes := ""
	if len(r.State.Passes) > 0 {
		text, err := json.Marshal(r.State.Passes)
		if err != nil {
			return runRow{}, fmt.Errorf("storage: passes of a run: %w", err)
		}
		passes = string(text)
	}
	return runRow{
		Org: orgID, WorkflowID: r.WorkflowID, ID: r.ID, Version: r.Version, ContactID: r.ContactID, Status: string(r.State.Status), NodePath: r.State.Node,
		Phase: string(r.State.Phase), UntilAt: storedTimer(r.State.Until), WakeAt: storedTimer(r.State.WakeAt), OnChange: r.State.OnChange, Passed: r.State.Passed,
		Passes: passes, Cause: string(r.Cause), SourceKey: r.SourceKey, StartedAt: db.At(r.StartedAt), CompletedAt: db.OptionalAt(r.CompletedAt),
		ExitKind: string(r.ExitKind), ExitName: r.ExitName, Faults: r.Faults,
	}, nil
}

// storedRuns returns runs as a parameter with many rows.
func storedRuns(orgID string, runs []workflows.Run) (string, error) {
	rows := make([]runRow, len(runs))
	for i, r := range runs {
		var err error
		if rows[i], err = storedRun(orgID, r); err != nil {
			return "", err
		}
	}
	return db.JSONParameter(rows)
}

// eventRow is an event of a timeline, in both directions.
type eventRow struct {
	RunID      string  `db:"run_id" json:"run"`
	ID         string  `db:"id" json:"id"`
	Version    int     `db:"version" json:"version"`
	NodePath   string  `db:"node_path" json:"node"`
	Type       string  `db:"event_type" json:"type"`
	OccurredAt db.Time `db:"occurred_at" json:"at"`
	Iteration  int     `db:"iteration" json:"iteration"`
	Arm        string  `db:"arm" json:"arm"`
	Tier       string  `db:"tier" json:"tier"`
	Reason     string  `db:"reason" json:"reason"`
	ExitKind   string  `db:"exit_kind" json:"kind"`
	ExitName   string  `db:"exit_name" json:"name"`
	Detail     string  `db:"detail" json:"detail"`
}

const eventColumns = `run_id, id, version, node_path, event_type, occurred_at, iteration, arm, tier, reason, exit_kind, exit_name, detail`

func (r eventRow) event() workflows.Event {
	return workflows.Event{ID: r.ID, RunID: r.RunID, Version: r.Version, Event: engine.Event{
		Path: r.NodePath, Type: engine.EventType(r.Type), At: r.OccurredAt.Time(), Iteration: r.Iteration, Arm: r.Arm, Tier: engine.Tier(r.Tier),
		Reason: engine.Reason(r.Reason), Kind: engine.ExitKind(r.ExitKind), Exit: r.ExitName, Detail: r.Detail,
	}}
}

// storedEvents returns events as a parameter with many rows. Events without an id get one.
func storedEvents(events []workflows.Event) (string, error) {
	rows := make([]eventRow, len(events))
	for i, e := range events {
		if e.ID == "" {
			e.ID = core.NewID()
		}
		rows[i] = eventRow{
			RunID: e.RunID, ID: e.ID, Version: e.Version, NodePath: e.Path, Type: string(e.Type), OccurredAt: db.At(e.At), Iteration: e.Iteration, Arm: e.Arm,
			Tier: string(e.Tier), Reason: string(e.Reason), ExitKind: string(e.Kind), ExitName: e.Exit, Detail: e.Detail,
		}
	}
	return db.JSONParameter(rows)
}
