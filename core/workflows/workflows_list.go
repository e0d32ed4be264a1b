package workflows

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListWorkflowsIn has the size and the cursor of a page of workflows.
type ListWorkflowsIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// WithID names a workflow in the path of a route.
type WithID struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the workflow, or its key."`
}

// exampleKey is the key of a workflow of the demo.
const exampleKey = "welcome"

func (w *Workflows) workflowsList() core.Operation {
	return core.Declare(core.Op[ListWorkflowsIn, core.Page[Record]]{
		Name:    "workflows_list",
		Title:   "List workflows",
		Purpose: "Lists the organization's workflows, newest first, with the numbers of their runs. It does not return sources.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.WorkflowsView},
		Do: func(ctx context.Context, c *core.Call, in ListWorkflowsIn) (core.Page[Record], error) {
			return w.recordPage(ctx, c.Principal.Org.ID, in)
		},
	})
}

func (w *Workflows) recordPage(ctx context.Context, orgID string, in ListWorkflowsIn) (core.Page[Record], error) {
	return core.ReadPage("workflow records", in.Cursor, in.Limit, func(after *core.After, limit int) ([]Record, error) {
		rows, err := w.Store.Workflows(ctx, orgID, Filter{After: after, Limit: limit})
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}
		counts, err := w.Runs.Counts(ctx, orgID, ids)
		records := make([]Record, len(rows))
		for i, row := range rows {
			records[i] = recordOf(row, counts[row.ID])
		}
		return records, err
	}, func(r Record) core.After { return core.After{At: r.createdAt, ID: r.ID} })
}

func (w *Workflows) workflowsGet() core.Operation {
	return core.Declare(core.Op[WithID, Record]{
		Name:    "workflows_get",
		Title:   "Read a workflow",
		Purpose: "Reads one workflow with its status and the numbers of its runs. It does not return the source.",
		Example: `{"id": "` + exampleKey + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in WithID) (Record, error) {
			org := c.Principal.Org.ID
			found, err := w.Store.Workflow(ctx, org, in.ID)
			if err != nil {
				return Record{}, err
			}
			counts, err := w.Runs.Counts(ctx, org, []string{found.ID})
			return recordOf(found, counts[found.ID]), err
		},
	})
}
