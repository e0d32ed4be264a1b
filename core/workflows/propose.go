package workflows

import (
	"cmp"
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// statusProposed is the value of AuthoredWorkflow.Status for a source that was proposed.
const statusProposed = "pull_request_open"

// isManaged reports whether a call changes a workflow that the repository of the organization does not
// define. Errors about the arguments are left to the operation.
func (w *Workflows) isManaged(ctx context.Context, c *core.Call, in AuthorWorkflowIn) (bool, error) {
	if in.WorkflowID == "" && in.Key == "" {
		return false, nil
	}
	found, err := w.Store.Workflow(ctx, c.Principal.Org.ID, cmp.Or(in.WorkflowID, in.Key))
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil && found.Origin != FromGit, err
}

// propose proposes a source in the repository of the organization, which defines its workflows.
func (w *Workflows) propose(ctx context.Context, c *core.Call, in AuthorWorkflowIn, open core.OpenPullRequest) (AuthoredWorkflow, error) {
	if in.WorkflowID != "" && in.Key != "" {
		return AuthoredWorkflow{}, core.Invalid("key", "excludes `workflow_id`; the key of a workflow never changes")
	}
	org := c.Principal.Org.ID
	found, isNew, err := w.target(ctx, org, Definition{WorkflowID: in.WorkflowID, Key: in.Key})
	if err != nil {
		return AuthoredWorkflow{}, err
	}
	out := AuthoredWorkflow{Status: statusProposed, Key: in.Key, ContentHash: HashOf(in.Source)}
	if isNew {
		out.Key, err = w.keyOfProposal(ctx, c, org, in)
	} else {
		out.WorkflowID, out.Key = &found.ID, found.Key
		out.Version, err = w.versionBefore(ctx, c, found, in)
	}
	if err != nil {
		return AuthoredWorkflow{}, err
	}
	review, err := w.Review(ctx, org, in.Source)
	if err != nil {
		return AuthoredWorkflow{}, err
	}
	opened, err := open(ctx, core.RepositoryChange{
		Title: "Save the workflow " + out.Key, Definitions: []core.RepositoryDefinition{{Kind: "workflow", Key: out.Key, Source: in.Source}},
	})
	if err != nil {
		return AuthoredWorkflow{}, err
	}
	out.PullRequestBranch, out.Summary = &opened.Branch, opened.Summary("workflow")
	if opened.URL != "" {
		out.PullRequestURL = &opened.URL
	}
	out.Diagnostics = review.Diagnostics
	if checked := review.Checked; checked != nil {
		words := checked.Explain().String()
		out.Explanation = &words
	}
	if review.HasFaults() {
		out.Summary += " It has faults, so after the merge it cannot be activated."
	}
	return out, nil
}

// keyOfProposal returns the key of a new workflow.
func (w *Workflows) keyOfProposal(ctx context.Context, c *core.Call, orgID string, in AuthorWorkflowIn) (string, error) {
	if in.Base != "" {
		return "", core.StaleContentHash(c, "The workflow does not exist, so no content has the hash "+core.Quote(in.Base)+".",
			"Correct the key, or leave `base_content_hash` out to create the workflow.", in.Base, "")
	}
	if in.Key != "" {
		return in.Key, nil
	}
	return w.freeKey(ctx, orgID, nameOf(in.Source, untitled))
}

// versionBefore returns the number of the newest version, which must be the one that the caller changed.
func (w *Workflows) versionBefore(ctx context.Context, c *core.Call, found Workflow, in AuthorWorkflowIn) (int, error) {
	if found.Status == Archived {
		return 0, refuseStatus(found, "changed")
	}
	newest, err := w.Store.Version(ctx, c.Principal.Org.ID, found.ID, found.Latest())
	if err != nil {
		return 0, err
	}
	if in.Base != newest.ContentHash {
		return 0, staleBase(c, found, newest, in.Base)
	}
	return newest.Number, nil
}
