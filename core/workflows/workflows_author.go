package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// AuthorWorkflowIn has a source to save.
type AuthorWorkflowIn struct {
	WorkflowID string `json:"workflow_id,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Id of the workflow to change. This, key, or neither for a new workflow."`
	Key        string `json:"key,omitempty" jsonschema:"maxLength=64,pattern=^[a-z0-9]+([_-][a-z0-9]+)*$" jsonschema_description:"Key of the workflow, which is created if there is none. Default for a new one: made from its name."`
	Source     string `json:"source" jsonschema:"minLength=1,maxLength=65536" jsonschema_description:"In the workflow language, such as workflow \"Trial\" v1 { enter on segment \"trials\" exit \"paid\" when attr.plan = \"pro\" send \"welcome\" via topic \"news\" wait 3 days if attr.seats > 5 { send \"team\" via topic \"news\" } }."`
	Base       string `json:"base_content_hash,omitempty" jsonschema:"maxLength=128" jsonschema_description:"content_hash of the source that you read and changed. Required to change a workflow, absent to create one."`
}

// AuthoredWorkflow is the result of saving a source.
type AuthoredWorkflow struct {
	Status            string       `json:"status" jsonschema:"enum=saved,enum=pull_request_open"`
	PullRequestURL    *string      `json:"pull_request_url" voice:"ours" jsonschema:"nullable" jsonschema_description:"null: it is saved here, or the repository has branches only."`
	PullRequestBranch *string      `json:"pull_request_branch" voice:"ours" jsonschema:"nullable" jsonschema_description:"Branch that awaits review. null: it is saved here."`
	WorkflowID        *string      `json:"workflow_id" jsonschema:"format=uuid,nullable" jsonschema_description:"null: a new workflow that is only proposed."`
	Key               string       `json:"key" voice:"untrusted"`
	Version           int          `json:"version"`
	ContentHash       string       `json:"content_hash" voice:"ours" jsonschema_description:"The base_content_hash of the next change."`
	CanActivate       bool         `json:"can_be_activated" jsonschema_description:"Whether the source has no faults."`
	Diagnostics       []Diagnostic `json:"diagnostics" jsonschema_description:"Faults or, without faults, warnings."`
	Explanation       *string      `json:"explanation" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"The journey in words, null with faults. Show it to the person."`
	Summary           string       `json:"summary" voice:"ours"`
}

// statusSaved is the value of AuthoredWorkflow.Status for a source that Mailhelm stored.
const statusSaved = "saved"

func (w *Workflows) workflowsAuthor() core.Operation {
	return core.Declare(core.Op[AuthorWorkflowIn, AuthoredWorkflow]{
		Name:  "workflows_author",
		Title: "Save a workflow",
		Purpose: "Saves the source of a workflow as its draft, also with faults. " +
			"Use it to write a journey; workflows_get_performance has the present source and hash. " +
			"Returns the version, the content hash and diagnostics with their places. It activates and sends nothing.",
		Example:   `{"key": "after-purchase", "source": "workflow \"After a purchase\" v1 {\n  enter on activity.order_placed\n\n  wait 3 days\n  send \"welcome\" via topic \"offers\"\n}\n"}`,
		Effect:    core.Writes,
		Scopes:    []core.Scope{core.WorkflowsManage},
		GitOwned:  core.GitPullRequest,
		Fails:     []core.Code{core.CodeNotFound, core.CodeConflict, core.CodeStaleContentHash},
		Propose:   w.propose,
		IsManaged: w.isManaged,
		Do:        w.author,
	})
}

func (w *Workflows) author(ctx context.Context, c *core.Call, in AuthorWorkflowIn) (AuthoredWorkflow, error) {
	if in.WorkflowID != "" && in.Key != "" {
		return AuthoredWorkflow{}, core.Invalid("key", "excludes `workflow_id`; the key of a workflow never changes")
	}
	saved, err := w.save(ctx, c, c.Principal.Org.ID, Definition{WorkflowID: in.WorkflowID, Key: in.Key, Source: in.Source, BaseHash: &in.Base, Author: authorOf(c)})
	if err != nil {
		return AuthoredWorkflow{}, err
	}
	c.SetSubject(saved.Workflow.ID)
	out := AuthoredWorkflow{
		Status: statusSaved, WorkflowID: &saved.Workflow.ID, Key: saved.Workflow.Key, Version: saved.Version.Number, ContentHash: saved.Version.ContentHash,
		CanActivate: !saved.Review.HasFaults(), Diagnostics: saved.Review.Diagnostics, Summary: saved.summary(),
	}
	if checked := saved.Review.Checked; checked != nil {
		words := checked.Explain().String()
		out.Explanation = &words
	}
	return out, nil
}

// authorOf returns the caller as an author.
func authorOf(c *core.Call) Author {
	return Author{Kind: string(c.Principal.Credential.Kind), ID: c.Principal.Credential.ID, UserID: c.Principal.UserID}
}

// summary says what happened, and what follows.
func (s Saved) summary() string {
	text := fmt.Sprintf("Saved as version %d, a draft. Nothing was activated or sent.", s.Version.Number)
	if !s.Changed {
		text = fmt.Sprintf("Nothing changed: version %d has this source.", s.Version.Number)
	}
	if s.Review.HasFaults() {
		return text + " It cannot be activated before its faults are corrected."
	}
	if s.Version.Number > s.Workflow.CurrentVersion {
		text += " Try it with workflows_dry_run and workflows_estimate_enrollment, then activate it with workflows_activate."
	}
	return text
}
