package workflows

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// EstimateIn names a workflow or has a source.
type EstimateIn struct {
	Workflow string `json:"workflow,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Id or key of a saved workflow, whose newest version is estimated. This or source."`
	Source   string `json:"source,omitempty" jsonschema:"maxLength=65536" jsonschema_description:"Source to estimate without saving it, such as workflow \"News\" v1 {...}."`
	Days     int    `json:"days,omitempty" jsonschema:"minimum=1,maximum=90,default=28" jsonschema_description:"Past days to look at."`
}

// Enrollment says how many contacts would enter a workflow.
type Enrollment struct {
	Existing     int             `json:"existing" jsonschema_description:"Contacts that would enter at the activation."`
	FuturePerDay float64         `json:"future_per_day" jsonschema_description:"Contacts that would have entered on an average day."`
	Scope        EffectiveScope  `json:"effective_scope" jsonschema:"enum=existing,enum=forward" jsonschema_description:"existing: contacts for whom the trigger happened before enter, too."`
	Days         []DayRecord     `json:"days" jsonschema_description:"Past days, the oldest first."`
	Sends        []SendPerDay    `json:"sends"`
	Exits        []ExitPerPeriod `json:"exits"`
	Contacts     int             `json:"contacts" jsonschema_description:"Contacts that were looked at."`
	Sampled      bool            `json:"sampled" jsonschema_description:"Whether the numbers are projections from a part of the contacts."`
	Diagnostics  []Diagnostic    `json:"diagnostics" jsonschema_description:"Faults and warnings. With faults, nothing was estimated."`
	Summary      string          `json:"summary" voice:"ours"`
}

// EffectiveScope says who enters at an activation.
type EffectiveScope string

// The scopes.
const (
	ScopeExisting EffectiveScope = "existing"
	ScopeForward  EffectiveScope = "forward"
)

// DayRecord is what would have happened on one past day.
type DayRecord struct {
	Day      string `json:"day" voice:"ours" jsonschema_description:"In UTC: 2026-05-01."`
	Enrolled int    `json:"enrolled"`
	Sends    int    `json:"sends"`
}

// SendPerDay is the average number of messages of a send step on a day.
type SendPerDay struct {
	NodePath string  `json:"node_path" voice:"ours"`
	Template string  `json:"template" voice:"untrusted"`
	PerDay   float64 `json:"per_day"`
}

// ExitPerPeriod is the number of runs that would have ended by a named exit.
type ExitPerPeriod struct {
	Name  string `json:"exit_name" voice:"untrusted"`
	Count int    `json:"count"`
}

func (w *Workflows) workflowsEstimateEnrollment() core.Operation {
	return core.Declare(core.Op[EstimateIn, Enrollment]{
		Name:  "workflows_estimate_enrollment",
		Title: "Estimate who enters a workflow",
		Purpose: "Estimates from the past how many contacts enter a workflow at its activation and a day, and how many messages they get. " +
			"Use it before activating. Returns numbers, also by day and by send. It enrolls no contact.",
		Example: `{"workflow": "` + exampleKey + `", "days": 7}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.WorkflowsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      w.estimate,
	})
}

func (w *Workflows) estimate(ctx context.Context, c *core.Call, in EstimateIn) (Enrollment, error) {
	tried, err := w.toTry(ctx, c.Principal.Org.ID, in.Workflow, in.Source)
	if err != nil {
		return Enrollment{}, err
	}
	out := Enrollment{Scope: ScopeForward, Days: []DayRecord{}, Sends: []SendPerDay{}, Exits: []ExitPerPeriod{}, Diagnostics: tried.review.Diagnostics}
	if tried.review.HasFaults() {
		out.Summary = "The source has faults, so nothing was estimated. Correct them first."
		return out, nil
	}
	days := in.Days
	if days == 0 {
		days = estimateDays
	}
	found, err := w.Estimates.Estimate(ctx, c.Principal.Org.ID, tried.review.Checked, tried.workflowID, days, c.Now)
	if err != nil {
		return Enrollment{}, err
	}
	out.addEstimate(found)
	if existing, _ := ExistingOf(tried.review.Checked.Tree().Settings, c.Now); existing {
		out.Scope, out.Existing = ScopeExisting, found.EnterNow
	}
	out.Summary = fmt.Sprintf("By the last %d days, %d contacts would enter at the first activation of %s, and %s a day afterwards. No contact was enrolled.",
		days, out.Existing, tried.what, number(found.PerDay))
	return out, nil
}

func (out *Enrollment) addEstimate(e Estimate) {
	out.FuturePerDay, out.Contacts, out.Sampled = e.PerDay, e.Contacts, e.Sampled
	for _, d := range e.Days {
		out.Days = append(out.Days, DayRecord{d.Day.Format(time.DateOnly), d.Enrolled, d.Sends})
	}
	for _, s := range e.Sends {
		out.Sends = append(out.Sends, SendPerDay{s.Path, s.Template, s.PerDay})
	}
	for _, x := range e.Exits {
		out.Exits = append(out.Exits, ExitPerPeriod(x))
	}
}
