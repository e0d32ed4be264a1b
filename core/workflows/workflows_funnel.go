package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func (w *Workflows) workflowsExits() core.Operation {
	return core.Declare(core.Op[WithID, core.Collection[ExitRecord]]{
		Name:    "workflows_exits",
		Title:   "Count the exits of a workflow",
		Purpose: "Counts how the runs of a workflow ended, over all versions. It does not name contacts.",
		Example: `{"id": "` + exampleKey + `"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in WithID) (core.Collection[ExitRecord], error) {
			org := c.Principal.Org.ID
			found, err := w.Store.Workflow(ctx, org, in.ID)
			if err != nil {
				return core.Collection[ExitRecord]{}, err
			}
			exits, err := w.Runs.Exits(ctx, org, found.ID, 0)
			return core.Collection[ExitRecord]{Data: exitRecordsOf(exits)}, err
		},
	})
}

// FunnelIn names a version of a workflow.
type FunnelIn struct {
	WithID
	Version int `json:"version,omitempty" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"Version of the workflow. Default: the current one."`
}

// Funnel says how far the runs of a version have come.
type Funnel struct {
	Version int          `json:"version" jsonschema_description:"0: the workflow was never activated."`
	Nodes   []NodeRecord `json:"nodes" jsonschema_description:"Steps in the order of the source."`
	Sends   []SendRecord `json:"sends" jsonschema_description:"Send steps in the order of the source."`
}

func (w *Workflows) workflowsFunnel() core.Operation {
	return core.Declare(core.Op[FunnelIn, Funnel]{
		Name:    "workflows_funnel",
		Title:   "Read the funnel of a workflow",
		Purpose: "Counts the runs that came to each step of a version, and the messages of each send by outcome. It does not name contacts.",
		Example: `{"id": "` + exampleKey + `"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in FunnelIn) (Funnel, error) {
			found, err := w.Store.Workflow(ctx, c.Principal.Org.ID, in.ID)
			if err != nil {
				return Funnel{}, err
			}
			return w.Funnel(ctx, c.Principal.Org.ID, found, in.Version)
		},
	})
}

// Funnel returns how far the runs of a version have come. version 0 means the current one. It
// fails with core.CodeNotFound for a version that was never activated.
func (e *Editor) Funnel(ctx context.Context, orgID string, w Workflow, version int) (Funnel, error) {
	if version == 0 {
		version = w.CurrentVersion
	}
	if version > w.CurrentVersion {
		return Funnel{}, core.NotFound("version of the workflow")
	}
	funnel := Funnel{Version: version, Nodes: []NodeRecord{}, Sends: []SendRecord{}}
	if version == 0 {
		return funnel, nil
	}
	stored, err := e.Store.Version(ctx, orgID, w.ID, version)
	if err != nil {
		return Funnel{}, err
	}
	tree, err := language.Parse(stored.Source)
	if err != nil {
		return Funnel{}, fmt.Errorf("workflows: version %d of %s was activated and does not parse: %w", version, w.ID, err)
	}
	nodes, err := e.Runs.Nodes(ctx, orgID, w.ID, version)
	if err != nil {
		return Funnel{}, err
	}
	sends, err := e.Runs.Sends(ctx, orgID, w.ID, version)
	if err != nil {
		return Funnel{}, err
	}
	entered, sent := map[string]NodeCount{}, map[string]SendCount{}
	for _, n := range nodes {
		entered[n.Path] = n
	}
	for _, s := range sends {
		sent[s.Path] = s
	}
	for located := range tree.All() {
		path := located.Path
		funnel.Nodes = append(funnel.Nodes, NodeRecord{path, located.Step.Type(), entered[path].Runs, entered[path].Entries})
		if s := sent[path]; located.Step.Type() == (*language.Send)(nil).Type() {
			funnel.Sends = append(funnel.Sends, SendRecord{path, s.Sent, s.Filtered, s.Failed, s.Deferred})
		}
	}
	return funnel, nil
}
