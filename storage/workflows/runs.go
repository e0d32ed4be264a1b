package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// RunStore reads runs, and stores decisions about held messages.
type RunStore struct{ db *db.DB }

var (
	_ workflows.RunStore  = RunStore{}
	_ workflows.HoldStore = RunStore{}
)

// NewRunStore returns the store of runs on the database.
func NewRunStore(on *db.DB) RunStore { return RunStore{on} }

// micros of a day.
const day = int64(24 * time.Hour / time.Microsecond)

var (
	// countRuns names each status, so that it reads nothing but the index of statuses.
	countRuns = db.Register("count runs", `
		SELECT r.workflow_id, r.status, count(*) AS runs FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.status IN ('active', 'completed', 'exited', 'failed') AND r.workflow_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j) GROUP BY r.workflow_id, r.status`)
	// runsPage reads through the primary key. The filters are compared row by row.
	runsPage = db.Register("runs page", `
		SELECT `+runColumns+` FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.id < $3
		AND ($4 = '[]' OR r.status IN (SELECT j.atom FROM json_each(CAST($5 AS text)) AS j))
		AND (CAST($6 AS bytetext) = '' OR r.node_path = CAST($7 AS bytetext) AND r.status = 'active')
		AND (CAST($8 AS bytetext) = '' OR r.contact_id = CAST($9 AS bytetext))
		ORDER BY r.id DESC LIMIT $10`)
	runByID  = db.RegisterPoint("run", `SELECT `+runColumns+` FROM workflow_runs AS r WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.id = $3`)
	timeline = db.Register("timeline of a run", `
		SELECT `+eventColumns+` FROM workflow_events WHERE org_id = $1 AND workflow_id = $2 AND run_id = $3 AND occurred_at >= $4 ORDER BY id`)
	exitCounts = db.Register("exits of a workflow", `
		SELECT r.status, r.exit_kind, r.exit_name, count(*) AS runs FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.status IN ('exited', 'completed', 'failed') AND (r.version = $3 OR CAST($4 AS bigint) = 0)
		GROUP BY r.status, r.exit_kind, r.exit_name ORDER BY r.status, r.exit_kind, r.exit_name`)
	nodeCounts = db.Register("steps of a workflow", `
		SELECT node_path, count(DISTINCT run_id) AS runs, count(*) AS entries FROM workflow_events
		WHERE org_id = $1 AND workflow_id = $2 AND version = $3 AND event_type = 'step_entered' GROUP BY node_path ORDER BY node_path`)
	filteredCounts = db.Register("filtered sends of a workflow", `
		SELECT node_path, count(*) AS messages FROM workflow_events
		WHERE org_id = $1 AND workflow_id = $2 AND version = $3 AND event_type = 'send_filtered' GROUP BY node_path`)
	// sendCounts joins in this order, so that SQLite reads the messages of each send.
	sendCounts = db.Register("sends of a workflow", `
		SELECT s.node_path, m.state, count(*) AS messages FROM workflow_sends AS s CROSS JOIN workflow_mails AS m
		WHERE m.org_id = s.org_id AND m.send_id = s.id AND s.org_id = $1 AND s.workflow_id = $2 AND s.version = $3 AND m.state <> 'filtered' GROUP BY s.node_path, m.state`)
	runsAtSteps = db.Register("runs at steps", `
		SELECT r.node_path, count(*) AS runs FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.workflow_id = $2 AND r.status = 'active' AND r.version = $3 GROUP BY r.node_path`)
	startedRuns = db.Register("started runs", `
		SELECT r.started_at / $1 AS day, count(*) AS runs FROM workflow_runs AS r
		WHERE r.org_id = $2 AND r.workflow_id = $3 AND r.started_at >= $4 GROUP BY r.started_at / $1 ORDER BY 1`)
	heldRuns = db.Register("held runs", `
		SELECT `+runColumns+` FROM workflow_runs AS r
		WHERE r.org_id = $1 AND r.phase = 'held' AND r.id > $2 AND (CAST($3 AS bytetext) = '' OR r.workflow_id = CAST($4 AS bytetext))
		ORDER BY r.id LIMIT $5`)
	// countHeld compares the id so that SQLite reads the partial index workflow_runs_held.
	countHeld = db.Register("count held runs", `
		SELECT r.workflow_id, count(*) AS runs FROM workflow_runs AS r WHERE r.org_id = $1 AND r.phase = 'held' AND r.id > '' GROUP BY r.workflow_id`)
	// heldSince reads the events of each run through the primary key. The plus keeps SQLite from
	// reading the latest events of all runs instead.
	heldSince = db.Register("times of held runs", `
		SELECT v ->> 'run' AS run_id, coalesce((SELECT max(+e.occurred_at) FROM workflow_events AS e
			WHERE e.org_id = $1 AND e.workflow_id = CAST(v ->> 'workflow' AS bytetext) AND e.run_id = CAST(v ->> 'run' AS bytetext) AND e.occurred_at >= CAST(v ->> 'since' AS bigint) AND e.event_type = 'send_held'), 0) AS at
		FROM `+db.ParameterRows(`$2`))
	decideHeld = db.Register("decide about held runs", `
		UPDATE workflow_runs SET phase = $1, wake_at = $2
		WHERE org_id = $3 AND workflow_id = $4 AND id IN (SELECT j.atom FROM json_each(CAST($5 AS text)) AS j) AND phase = 'held' AND status = 'active'
		RETURNING id`)
	addressesOf = db.Register("addresses of contacts in workflows", `
		SELECT c.id, c.email FROM `+db.RowsNamed("contacts", db.Named{Column: "id", Equals: "j.atom"}))
)

func (s RunStore) Counts(ctx context.Context, orgID string, workflowIDs []string) (map[string]map[engine.Status]int, error) {
	type countRow struct {
		WorkflowID string        `db:"workflow_id"`
		Status     engine.Status `db:"status"`
		Runs       int           `db:"runs"`
	}
	ids, err := db.JSONParameter(workflowIDs)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[countRow](ctx, s.db, countRuns, orgID, ids)
	counts := map[string]map[engine.Status]int{}
	for _, r := range rows {
		if counts[r.WorkflowID] == nil {
			counts[r.WorkflowID] = map[engine.Status]int{}
		}
		counts[r.WorkflowID][r.Status] = r.Runs
	}
	return counts, err
}

// lastID is greater than every id.
const lastID = "~"

func (s RunStore) Runs(ctx context.Context, orgID string, f workflows.RunFilter) ([]workflows.Run, error) {
	statuses, err := db.JSONParameter(f.Statuses)
	if err != nil {
		return nil, err
	}
	after := f.After
	if after == "" {
		after = lastID
	}
	return db.ListParsed(ctx, s.db, runRow.run, runsPage, orgID, f.WorkflowID, after, statuses, statuses, f.Node, f.Node, f.ContactID, f.ContactID, f.Limit)
}

func (s RunStore) Run(ctx context.Context, orgID, workflowID, runID string) (workflows.Run, error) {
	found, err := db.One[runRow](ctx, s.db, "run", runByID, orgID, workflowID, runID)
	if err != nil {
		return workflows.Run{}, err
	}
	return found.run()
}

// clockDifference is more than the clocks of two servers differ. The first server begins a run,
// others add to its timeline.
const clockDifference = time.Hour

// firstEvent returns the time from which a run can have events. On PostgreSQL only the partitions
// from then on are read.
func firstEvent(r workflows.Run) db.Time { return db.At(r.StartedAt.Add(-clockDifference)) }

func (s RunStore) Timeline(ctx context.Context, orgID string, run workflows.Run) ([]workflows.Event, error) {
	return db.ListAs(ctx, s.db, eventRow.event, timeline, orgID, run.WorkflowID, run.ID, firstEvent(run))
}

func (s RunStore) Exits(ctx context.Context, orgID, workflowID string, version int) ([]workflows.ExitCount, error) {
	type exitRow struct {
		Status engine.Status   `db:"status"`
		Kind   engine.ExitKind `db:"exit_kind"`
		Name   string          `db:"exit_name"`
		Runs   int             `db:"runs"`
	}
	types := map[engine.Status]engine.EventType{engine.Exited: engine.RunExited, engine.Completed: engine.RunCompleted, engine.Failed: engine.RunFailed}
	return db.ListAs(ctx, s.db, func(r exitRow) workflows.ExitCount {
		return workflows.ExitCount{Type: types[r.Status], Kind: r.Kind, Name: r.Name, Count: r.Runs}
	}, exitCounts, orgID, workflowID, version, version)
}

// stepRow is a number of runs or messages at a step.
type stepRow struct {
	Path     string `db:"node_path"`
	State    string `db:"state"`
	Runs     int    `db:"runs"`
	Entries  int    `db:"entries"`
	Messages int    `db:"messages"`
}

func (s RunStore) Nodes(ctx context.Context, orgID, workflowID string, version int) ([]workflows.NodeCount, error) {
	return db.ListAs(ctx, s.db, func(r stepRow) workflows.NodeCount {
		return workflows.NodeCount{Path: r.Path, Runs: r.Runs, Entries: r.Entries}
	}, nodeCounts, orgID, workflowID, version)
}

// Sends counts filtered messages by the events in timelines, which the messages have that were
// filtered before they were passed on as well as the others.
func (s RunStore) Sends(ctx context.Context, orgID, workflowID string, version int) ([]workflows.SendCount, error) {
	passed, err := db.List[stepRow](ctx, s.db, sendCounts, orgID, workflowID, version)
	if err != nil {
		return nil, err
	}
	stopped, err := db.List[stepRow](ctx, s.db, filteredCounts, orgID, workflowID, version)
	if err != nil {
		return nil, err
	}
	var counts []workflows.SendCount
	at := map[string]int{}
	of := func(path string) *workflows.SendCount {
		if _, found := at[path]; !found {
			at[path] = len(counts)
			counts = append(counts, workflows.SendCount{Path: path})
		}
		return &counts[at[path]]
	}
	for _, r := range passed {
		count := of(r.Path)
		switch r.State {
		case "sent":
			count.Sent = r.Messages
		case "failed":
			count.Failed = r.Messages
		default:
			count.Deferred = r.Messages
		}
	}
	for _, r := range stopped {
		of(r.Path).Filtered = r.Messages
	}
	return counts, nil
}

func (s RunStore) At(ctx context.Context, orgID, workflowID string, version int) (map[string]int, error) {
	rows, err := db.List[stepRow](ctx, s.db, runsAtSteps, orgID, workflowID, version)
	counts := make(map[string]int, len(rows))
	for _, r := range rows {
		counts[r.Path] = r.Runs
	}
	return counts, err
}

func (s RunStore) Started(ctx context.Context, orgID, workflowID string, since time.Time) ([]workflows.DayCount, error) {
	type dayRow struct {
		Day  int64 `db:"day"`
		Runs int   `db:"runs"`
	}
	return db.ListAs(ctx, s.db, func(r dayRow) workflows.DayCount {
		return workflows.DayCount{Day: time.UnixMicro(r.Day * day).UTC(), Count: r.Runs}
	}, startedRuns, day, orgID, workflowID, db.At(since))
}

func (s RunStore) Held(ctx context.Context, orgID, workflowID, after string, limit int) ([]workflows.Run, error) {
	return db.ListParsed(ctx, s.db, runRow.run, heldRuns, orgID, after, workflowID, workflowID, limit)
}

func (s RunStore) CountHeld(ctx context.Context, orgID string) (map[string]int, error) {
	type heldRow struct {
		WorkflowID string `db:"workflow_id"`
		Runs       int    `db:"runs"`
	}
	rows, err := db.List[heldRow](ctx, s.db, countHeld, orgID)
	counts := make(map[string]int, len(rows))
	for _, r := range rows {
		counts[r.WorkflowID] = r.Runs
	}
	return counts, err
}

func (s RunStore) HeldSince(ctx context.Context, orgID string, runs []workflows.Run) (map[string]time.Time, error) {
	type keyRow struct {
		Workflow string  `json:"workflow"`
		Run      string  `json:"run"`
		Since    db.Time `json:"since"`
	}
	type sinceRow struct {
		RunID string  `db:"run_id"`
		At    db.Time `db:"at"`
	}
	keys := make([]keyRow, len(runs))
	for i, r := range runs {
		keys[i] = keyRow{r.WorkflowID, r.ID, firstEvent(r)}
	}
	parameter, err := db.JSONParameter(keys)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[sinceRow](ctx, s.db, heldSince, orgID, parameter)
	since := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		if r.At != 0 {
			since[r.RunID] = r.At.Time()
		}
	}
	return since, err
}

func (s RunStore) Decide(ctx context.Context, orgID, workflowID string, runIDs []string, decision engine.Phase, now time.Time) ([]string, error) {
	ids, err := db.JSONParameter(runIDs)
	if err != nil {
		return nil, err
	}
	return db.Values[string](ctx, s.db, decideHeld, string(decision), db.At(now), orgID, workflowID, ids)
}

func (s RunStore) ContactNames(ctx context.Context, orgID string, contactIDs []string) (map[string]string, error) {
	type contactRow struct {
		ID    string `db:"id"`
		Email string `db:"email"`
	}
	ids, err := db.JSONParameter(contactIDs)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[contactRow](ctx, s.db, addressesOf, ids, orgID)
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Email
	}
	return names, err
}
