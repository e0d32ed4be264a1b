package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// DryRunIn names a workflow or has a source, and names a contact.
type DryRunIn struct {
	ID        string `json:"id" only:"rest" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the workflow, or its key."`
	Workflow  string `json:"workflow,omitempty" only:"agent" jsonschema:"maxLength=64" jsonschema_description:"Id or key of a saved workflow, whose newest version is tried. This or source."`
	Source    string `json:"source,omitempty" only:"agent" jsonschema:"maxLength=65536" jsonschema_description:"Source to try without saving it, such as workflow \"News\" v1 {...}."`
	ContactID string `json:"contact_id" jsonschema:"maxLength=64" jsonschema_description:"Id of the contact, from contacts_lookup."`
}

// DryRun is what a workflow would do for a contact.
type DryRun struct {
	ContactID string      `json:"contact_id" jsonschema:"format=uuid"`
	Steps     []StepTried `json:"steps"`
	// Total is the number of steps; Truncated is true if Steps has fewer.
	Total       int          `json:"total"`
	Truncated   bool         `json:"truncated" jsonschema_description:"Whether steps are left out."`
	Diagnostics []Diagnostic `json:"diagnostics" jsonschema_description:"Faults and warnings. With faults, nothing was tried."`
	Summary     string       `json:"summary" voice:"ours"`
}

// WasTruncated reports whether steps are left out.
func (d DryRun) WasTruncated() bool { return d.Truncated }

// DryRunREST is DryRun over REST.
type DryRunREST struct {
	ContactID string      `json:"contact_id" jsonschema:"format=uuid"`
	Steps     []StepTried `json:"steps"`
}

// RESTView returns the result in the form of REST.
func (d DryRun) RESTView() DryRunREST { return DryRunREST{d.ContactID, d.Steps} }

// StepTried is what one step would do.
type StepTried struct {
	NodePath string    `json:"node_path" voice:"ours"`
	NodeType string    `json:"node_type" jsonschema:"enum=send,enum=wait,enum=wait_until,enum=wait_for,enum=if,enum=split,enum=hold_out,enum=repeat,enum=set_attribute,enum=add_to_list,enum=exit"`
	Action   DryAction `json:"action" jsonschema:"enum=would-send,enum=would-skip,enum=would-set,enum=would-add,enum=waited,enum=matched-branch,enum=entered-arm,enum=held-out,enum=exited"`
	Detail   string    `json:"detail,omitempty" voice:"untrusted" jsonschema_description:"Template, arm, end of the wait, or reason."`
}

// maxTried is the maximum number of steps of a dry run that agents get.
const maxTried = 100

func (w *Workflows) workflowsDryRun() core.Operation {
	return core.Declare(core.Op[DryRunIn, DryRun]{
		Name:  "workflows_dry_run",
		Title: "Try a workflow",
		Purpose: "Lets one contact run through a workflow in memory, from now on and with its present data. " +
			"Use it before activating. Returns what each step would do. It sends nothing and enrolls no contact.",
		Example:      `{"id": "` + exampleKey + `", "contact_id": "` + exampleContact + `"}`,
		AgentExample: `{"workflow": "` + exampleKey + `", "contact_id": "` + exampleContact + `"}`,
		Effect:       core.Reads,
		Cost:         core.Light,
		Scopes:       []core.Scope{core.WorkflowsView},
		Fails:        []core.Code{core.CodeNotFound},
		Do:           w.dryRun,
	})
}

// exampleContact is the id of a contact of the demo.
const exampleContact = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a105"

func (w *Workflows) dryRun(ctx context.Context, c *core.Call, in DryRunIn) (DryRun, error) {
	org := c.Principal.Org.ID
	tried, err := w.toTry(ctx, org, in.ID+in.Workflow, in.Source)
	if err != nil {
		return DryRun{}, err
	}
	out := DryRun{ContactID: in.ContactID, Steps: []StepTried{}, Diagnostics: tried.review.Diagnostics}
	if tried.review.HasFaults() {
		if c.Surface != core.Agent {
			return DryRun{}, invalidSource(out.Diagnostics)
		}
		out.Summary = "The source has faults, so nothing was tried. Correct them first."
		return out, nil
	}
	steps, err := w.DryRuns.DryRun(ctx, org, tried.review.Checked, tried.workflowID, in.ContactID, c.Now)
	if err != nil {
		return DryRun{}, err
	}
	for _, s := range steps {
		out.Steps = append(out.Steps, StepTried(s))
	}
	out.Total = len(steps)
	out.Summary = fmt.Sprintf("What %s would do with the contact has %d parts. Nothing was sent or stored.", tried.what, len(steps))
	if c.Surface == core.Agent && len(steps) > maxTried {
		out.Steps, out.Truncated = out.Steps[:maxTried], true
	}
	return out, nil
}

// triedSource is a source that an operation tries.
type triedSource struct {
	// workflowID is "" for a source that is not saved.
	workflowID string
	// what names the source in a sentence.
	what   string
	review Review
}

// toTry returns the newest version of the workflow with an id or a key, or else the source.
func (w *Workflows) toTry(ctx context.Context, orgID, ref, source string) (triedSource, error) {
	if (ref == "") == (source == "") {
		return triedSource{}, core.Invalid("workflow", "or `source` must be given, and not both")
	}
	tried := triedSource{what: "the given source"}
	if ref != "" {
		found, err := w.Store.Workflow(ctx, orgID, ref)
		if err != nil {
			return triedSource{}, err
		}
		newest, err := w.Store.Version(ctx, orgID, found.ID, found.Latest())
		if err != nil {
			return triedSource{}, err
		}
		tried.workflowID, source = found.ID, newest.Source
		tried.what = fmt.Sprintf("version %d of the workflow %s", newest.Number, core.Quote(found.Key))
	}
	var err error
	tried.review, err = w.Review(ctx, orgID, source)
	return tried, err
}
