package workflows

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// ListRunsIn has the filter, the size and the cursor of a page of runs.
type ListRunsIn struct {
	WithID
	Status string `json:"status,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Only runs with one of these statuses: active, completed, exited, failed, separated by commas. Default: all."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// RunPage is a page of runs with the numbers of all runs of the workflow.
type RunPage struct {
	core.Page[RunRecord]
	Counts RunCounts `json:"counts"`
}

// RunEnvelope is a page of runs in a REST response.
type RunEnvelope struct {
	core.Envelope[RunRecord]
	Counts RunCounts `json:"counts" jsonschema_description:"Numbers of all runs of the workflow."`
}

// RESTView returns the page in the form of REST.
func (p RunPage) RESTView() RunEnvelope { return RunEnvelope{p.Page.RESTView(), p.Counts} }

func (w *Workflows) workflowsRuns() core.Operation {
	return core.Declare(core.Op[ListRunsIn, RunPage]{
		Name:    "workflows_runs",
		Title:   "List the runs of a workflow",
		Purpose: "Pages through the runs of a workflow, newest first: where each contact is. It names contacts by id and does not return addresses.",
		Example: `{"id": "` + exampleKey + `", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      w.listRuns,
	})
}

func (w *Workflows) listRuns(ctx context.Context, c *core.Call, in ListRunsIn) (RunPage, error) {
	org := c.Principal.Org.ID
	statuses, err := statusesOf(in.Status)
	if err != nil {
		return RunPage{}, err
	}
	found, err := w.Store.Workflow(ctx, org, in.ID)
	if err != nil {
		return RunPage{}, err
	}
	runs, next, err := w.SearchRuns(ctx, org, RunFilter{WorkflowID: found.ID, Statuses: statuses, Limit: core.Limit(in.Limit)}, in.Cursor)
	if err != nil {
		return RunPage{}, err
	}
	page := RunPage{Page: core.Page[RunRecord]{Next: next}}
	for _, r := range runs {
		page.Items = append(page.Items, runRecordOf(r))
	}
	counts, err := w.Runs.Counts(ctx, org, []string{found.ID})
	page.Counts = runCountsOf(counts[found.ID])
	return page, err
}

// SearchRuns returns a page of the runs that the filter selects, newest first, with f.Limit of
// them, and the cursor of the next page, "" for the last. f.After is not read. It fails with
// core.CodeValidationFailed for the cursor of another search.
func (e *Editor) SearchRuns(ctx context.Context, orgID string, f RunFilter, cursor string) (page []Run, next string, err error) {
	filter := fmt.Sprintf("workflow runs %q %q %q %q", f.WorkflowID, f.Statuses, f.Node, f.ContactID)
	keys, err := core.DecodeCursor(filter, cursor, 1)
	if err != nil {
		return nil, "", err
	}
	if keys != nil {
		f.After = keys[0]
	}
	limit := f.Limit
	f.Limit++
	page, err = e.Runs.Runs(ctx, orgID, f)
	if err != nil || len(page) <= limit {
		return page, "", err
	}
	return page[:limit], core.EncodeCursor(filter, page[limit-1].ID), nil
}

// statusesOf returns the statuses of a list that is separated by commas, sorted.
func statusesOf(text string) ([]engine.Status, error) {
	if text == "" {
		return nil, nil
	}
	var statuses []engine.Status
	for part := range strings.SplitSeq(text, ",") {
		status := engine.Status(strings.TrimSpace(part))
		if !slices.Contains([]engine.Status{engine.Active, engine.Completed, engine.Exited, engine.Failed}, status) {
			return nil, core.Invalid("status", "names "+core.Quote(string(status))+"; the statuses are active, completed, exited and failed, separated by commas")
		}
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	return slices.Compact(statuses), nil
}

// RunIn names a run of a workflow.
type RunIn struct {
	WithID
	RunID string `json:"run_id" jsonschema:"maxLength=64" jsonschema_description:"Id of the run."`
}

// Timeline has the events of a run, the oldest first.
type Timeline struct {
	RunID  string        `json:"run_id" jsonschema:"format=uuid"`
	Events []EventRecord `json:"events"`
}

func (w *Workflows) workflowsTimeline() core.Operation {
	return core.Declare(core.Op[RunIn, Timeline]{
		Name:    "workflows_timeline",
		Title:   "Read the timeline of a run",
		Purpose: "Returns what has happened in one run of a workflow, the oldest event first. It does not return the address of the contact.",
		Example: `{"id": "` + exampleKey + `", "run_id": "` + exampleRun + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in RunIn) (Timeline, error) {
			org := c.Principal.Org.ID
			found, err := w.Store.Workflow(ctx, org, in.ID)
			if err != nil {
				return Timeline{}, err
			}
			run, err := w.Runs.Run(ctx, org, found.ID, in.RunID)
			if err != nil {
				return Timeline{}, err
			}
			events, err := w.Runs.Timeline(ctx, org, run)
			timeline := Timeline{RunID: run.ID, Events: []EventRecord{}}
			for _, event := range events {
				timeline.Events = append(timeline.Events, eventRecordOf(event))
			}
			return timeline, err
		},
	})
}

// exampleRun is the id of a run of the demo.
const exampleRun = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a104"
