package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ActivateIn names the workflow to activate.
type ActivateIn struct {
	Workflow string `json:"workflow" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id or key of the workflow whose draft becomes the current version."`
}

// Activated is the result of an activation.
type Activated struct {
	WorkflowID      string `json:"workflow_id" jsonschema:"format=uuid"`
	Status          Status `json:"status" jsonschema:"enum=active"`
	Version         int    `json:"version"`
	RequireApproval bool   `json:"require_send_approval" jsonschema_description:"Always true: each message waits until a person approves it."`
	Summary         string `json:"summary" voice:"ours"`
}

// byAgent is how agents activate. Only a person ends the approval of messages.
var byAgent = Activation{RequireApproval: true}

func (w *Workflows) workflowsActivate() core.Operation {
	return core.Declare(core.Op[ActivateIn, Activated]{
		Name:  "workflows_activate",
		Title: "Activate a workflow",
		Purpose: "Makes the draft of a workflow current, so that contacts enter it. " +
			"Call it after a dry run and an estimate. The first call returns what would happen, and a second call confirms it. " +
			"Returns the status. It sends no message before a person approves it on the dashboard, and no tool changes that.",
		Example:       `{"workflow": "` + exampleDraft + `"}`,
		Effect:        core.Destroys,
		ReachesPeople: true,
		Scopes:        []core.Scope{core.WorkflowsManage},
		Fails:         []core.Code{core.CodeNotFound, core.CodeConflict},
		Confirm:       w.confirmActivation,
		Do:            w.activate,
	})
}

// exampleDraft is the key of a workflow of the demo that was never activated.
const exampleDraft = "win-back"

// confirmActivation describes what the activation would do.
func (w *Workflows) confirmActivation(ctx context.Context, c *core.Call, in ActivateIn) (*core.Confirmation, error) {
	found, err := w.Store.Workflow(ctx, c.Principal.Org.ID, in.Workflow)
	if err != nil {
		return nil, err
	}
	if err := refusePaused(found); err != nil {
		return nil, err
	}
	preview, err := w.previewOf(ctx, c.Principal.Org.ID, found, byAgent)
	if err != nil {
		return nil, err
	}
	return &core.Confirmation{Message: preview.Sentence(), Preview: preview}, nil
}

// refusePaused refuses to undo what a person has decided: the pause of a workflow.
func refusePaused(w Workflow) error {
	if w.Status == Paused || w.Status == Invalid && w.StatusBefore == Paused {
		return core.Conflict("A person paused the workflow "+core.Quote(w.Key)+".", "Ask a person to resume or activate it on the dashboard.")
	}
	return nil
}

func (w *Workflows) activate(ctx context.Context, c *core.Call, in ActivateIn) (Activated, error) {
	org := c.Principal.Org.ID
	found, err := w.Store.Workflow(ctx, org, in.Workflow)
	if err != nil {
		return Activated{}, err
	}
	if err := refusePaused(found); err != nil {
		return Activated{}, err
	}
	c.SetSubject(found.ID)
	changed, err := w.activateIn(ctx, org, found, byAgent, c.Now)
	if err != nil {
		return Activated{}, err
	}
	c.Defer(w.wake)
	return Activated{
		WorkflowID: changed.ID, Status: changed.Status, Version: changed.CurrentVersion, RequireApproval: changed.RequireApproval,
		Summary: fmt.Sprintf("Version %d is current, and contacts enter it from now on. Each message waits until a person approves it on the dashboard.", changed.CurrentVersion),
	}, nil
}
