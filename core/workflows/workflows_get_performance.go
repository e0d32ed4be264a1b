package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// PerformanceIn names a workflow and a version.
type PerformanceIn struct {
	Workflow string `json:"workflow,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Id or key. Absent: lists the workflows."`
	Version  int    `json:"version,omitempty" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"Version of the funnel and the exits. Default: the current one."`
	Source   bool   `json:"include_source,omitempty" jsonschema_description:"Also returns the newest source, to change it. Default: false."`
}

// Performance says how a workflow works or, without one, which workflows there are.
type Performance struct {
	Workflows []Brief  `json:"workflows" jsonschema_description:"The workflow or, if none was named, the newest ones."`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
	Details   *Details `json:"details" jsonschema:"nullable" jsonschema_description:"null: no workflow was named."`
	Warnings  []string `json:"warnings" voice:"ours" jsonschema_description:"What deserves attention."`
}

// WasTruncated reports whether workflows are left out.
func (p Performance) WasTruncated() bool { return p.Truncated }

// Brief is a workflow as agents get it.
type Brief struct {
	WorkflowID string    `json:"workflow_id" jsonschema:"format=uuid"`
	Key        string    `json:"key" voice:"untrusted"`
	Name       string    `json:"name" voice:"untrusted"`
	Status     Status    `json:"status" jsonschema:"enum=draft,enum=active,enum=paused,enum=archived,enum=invalid"`
	Version    int       `json:"current_version" jsonschema_description:"0: never activated."`
	Draft      *int      `json:"draft_version" jsonschema:"nullable"`
	RunCounts  RunCounts `json:"run_counts"`
	Held       int       `json:"held" jsonschema_description:"Messages that wait for a person."`
}

// Details says how far the runs of one version have come.
type Details struct {
	RequireApproval bool         `json:"require_send_approval"`
	Version         int          `json:"version"`
	Funnel          []FunnelStep `json:"funnel"`
	Sends           []SendRecord `json:"sends"`
	Exits           []ExitRecord `json:"exits"`
	ContentHash     string       `json:"content_hash" voice:"ours" jsonschema_description:"Of the newest source: the base_content_hash of workflows_author."`
	Source          *string      `json:"source" voice:"untrusted" jsonschema:"nullable"`
}

// FunnelStep is a step with the number of runs that are there now.
type FunnelStep struct {
	NodeRecord
	Now int `json:"now" jsonschema_description:"Active runs at the step."`
}

// maxListed is the number of workflows that agents get at once, maxExits the number of exits.
const (
	maxListed = 20
	maxExits  = 50
)

func (w *Workflows) workflowsGetPerformance() core.Operation {
	return core.Declare(core.Op[PerformanceIn, Performance]{
		Name:  "workflows_get_performance",
		Title: "Read how a workflow performs",
		Purpose: "Reads how a workflow performs, or lists the workflows. Use it to find a workflow, its source or its problems. " +
			"Returns runs by status, the funnel by step, sends by outcome, exits and warnings such as held messages. It names no contacts.",
		Example: `{"workflow": "` + exampleKey + `"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      w.performance,
	})
}

func (w *Workflows) performance(ctx context.Context, c *core.Call, in PerformanceIn) (Performance, error) {
	org := c.Principal.Org.ID
	if in.Workflow == "" {
		return w.briefs(ctx, org)
	}
	found, err := w.Store.Workflow(ctx, org, in.Workflow)
	if err != nil {
		return Performance{}, err
	}
	out := Performance{Total: 1}
	if out.Workflows, err = w.briefsOf(ctx, org, []Workflow{found}); err != nil {
		return Performance{}, err
	}
	details, err := w.details(ctx, org, found, in)
	if err != nil {
		return Performance{}, err
	}
	out.Details = &details
	out.Warnings = warningsOf(found, out.Workflows[0], details)
	return out, nil
}

// briefs returns the newest workflows.
func (w *Workflows) briefs(ctx context.Context, orgID string) (Performance, error) {
	page, err := w.Search(ctx, orgID, Filter{Limit: maxListed}, "")
	if err != nil {
		return Performance{}, err
	}
	out := Performance{Total: page.Total, Truncated: page.Next != "", Warnings: []string{}}
	if out.Workflows, err = w.briefsOf(ctx, orgID, page.Items); err != nil {
		return Performance{}, err
	}
	for i, b := range out.Workflows {
		out.Warnings = append(out.Warnings, statusWarnings(page.Items[i], b)...)
	}
	return out, nil
}

func (w *Workflows) briefsOf(ctx context.Context, orgID string, of []Workflow) ([]Brief, error) {
	ids := make([]string, len(of))
	for i, found := range of {
		ids[i] = found.ID
	}
	counts, err := w.Runs.Counts(ctx, orgID, ids)
	if err != nil {
		return nil, err
	}
	held, err := w.Holds.CountHeld(ctx, orgID)
	briefs := []Brief{}
	for _, f := range of {
		briefs = append(briefs, Brief{
			WorkflowID: f.ID, Key: f.Key, Name: f.Name, Status: f.Status, Version: f.CurrentVersion, Draft: orNull(f.DraftVersion),
			RunCounts: runCountsOf(counts[f.ID]), Held: held[f.ID],
		})
	}
	return briefs, err
}

func (w *Workflows) details(ctx context.Context, orgID string, of Workflow, in PerformanceIn) (Details, error) {
	funnel, err := w.Funnel(ctx, orgID, of, in.Version)
	if err != nil {
		return Details{}, err
	}
	d := Details{RequireApproval: of.RequireApproval, Version: funnel.Version, Funnel: []FunnelStep{}, Sends: funnel.Sends, Exits: []ExitRecord{}}
	newest, err := w.Store.Version(ctx, orgID, of.ID, of.Latest())
	if err != nil {
		return Details{}, err
	}
	d.ContentHash = newest.ContentHash
	if in.Source {
		d.Source = &newest.Source
	}
	if funnel.Version == 0 {
		return d, nil
	}
	now, err := w.Runs.At(ctx, orgID, of.ID, funnel.Version)
	if err != nil {
		return Details{}, err
	}
	for _, n := range funnel.Nodes {
		d.Funnel = append(d.Funnel, FunnelStep{n, now[n.NodePath]})
	}
	exits, err := w.Runs.Exits(ctx, orgID, of.ID, funnel.Version)
	d.Exits = exitRecordsOf(exits[:min(len(exits), maxExits)])
	return d, err
}

// warningsOf returns what deserves attention in a workflow, as sentences.
func warningsOf(w Workflow, b Brief, d Details) []string {
	warnings := append([]string{}, statusWarnings(w, b)...)
	for _, s := range d.Sends {
		total := s.Sent + s.Filtered + s.Failed
		if s.Failed > 0 {
			warnings = append(warnings, fmt.Sprintf("The send at %s failed for %d of %d messages.", s.NodePath, s.Failed, total))
		}
		if s.Filtered > s.Sent && s.Filtered >= fewMessages {
			warnings = append(warnings, fmt.Sprintf("The send at %s was filtered for %d of %d messages: the contacts are suppressed, opted out or over the frequency cap.", s.NodePath, s.Filtered, total))
		}
	}
	if w.DraftVersion > 0 && w.CurrentVersion > 0 {
		warnings = append(warnings, fmt.Sprintf("Version %d is a draft and not active yet.", w.DraftVersion))
	}
	return warnings
}

// fewMessages is the number of messages below which a share says little.
const fewMessages = 10

// statusWarnings returns the warnings that need no details.
func statusWarnings(w Workflow, b Brief) []string {
	var warnings []string
	if b.Held > 0 {
		waiting := numbered(b.Held, "1 message waits until a person approves it", "%d messages wait until a person approves them")
		warnings = append(warnings, core.Quote(w.Key)+": "+waiting+" on the dashboard.")
	}
	if w.Status == Invalid {
		warnings = append(warnings, fmt.Sprintf("%s is invalid, so it stands still: %s.", core.Quote(w.Key), core.Quotable(w.InvalidReason, maxReason)))
	}
	if w.Status == Paused && b.RunCounts.Active > 0 {
		waiting := numbered(b.RunCounts.Active, "1 run waits", "%d runs wait")
		warnings = append(warnings, fmt.Sprintf("%s is paused, and %s for a person to resume it.", core.Quote(w.Key), waiting))
	}
	if b.RunCounts.Failed > 0 {
		warnings = append(warnings, core.Quote(w.Key)+": "+numbered(b.RunCounts.Failed, "1 run", "%d runs")+" failed.")
	}
	return warnings
}

// numbered returns the text for the number 1, or the format many with another number.
func numbered(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// maxReason is the length to which a warning cuts the reason of an invalid workflow.
const maxReason = 200
