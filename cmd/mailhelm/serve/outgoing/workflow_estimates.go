package outgoing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// WorkflowTrials lets contacts run through workflows in memory; it is a [workflows.DryRuns] and a
// [workflows.Estimates].
type WorkflowTrials struct {
	Population Population
	Store      workflows.Store
}

// DryRun returns what a workflow would do for a contact.
func (t WorkflowTrials) DryRun(ctx context.Context, orgID string, checked *language.Checked, workflowID, contactID string, now time.Time) ([]workflows.DryStep, error) {
	plan := engine.Compile(checked)
	subjects, err := t.Population.Subjects(ctx, orgID, []string{contactID}, plan.References())
	if err != nil {
		return nil, err
	}
	subject, active := subjects[contactID]
	if !active {
		return nil, core.NotFound("contact")
	}
	tried := simulation.DryRun(plan, subject, contactID, workflowID, now)
	steps := make([]workflows.DryStep, len(tried))
	for i, s := range tried {
		steps[i] = workflows.DryStep{NodePath: s.NodePath, NodeType: s.NodeType, Action: workflows.DryAction(s.Action), Detail: s.Detail}
	}
	return steps, nil
}

// Estimate returns who would enter a workflow at an activation now, and what it would have done in
// the last days.
func (t WorkflowTrials) Estimate(ctx context.Context, orgID string, checked *language.Checked, workflowID string, days int, now time.Time) (workflows.Estimate, error) {
	limit, err := t.Store.Cap(ctx, orgID)
	if err != nil {
		return workflows.Estimate{}, err
	}
	plan := engine.Compile(checked)
	q := simulation.Question{OrgID: orgID, WorkflowID: workflowID, Plan: plan, Days: days, Now: now, Cap: limit}
	if trigger := plan.Settings().Trigger; trigger.Kind == language.OnSegment {
		names, err := t.Population.Schemas.WorkflowSchema(ctx, orgID)
		if err != nil {
			return workflows.Estimate{}, err
		}
		q.SegmentID = names.Segments[trigger.Segment]
	}
	found, err := simulation.NewEstimator(t.Population).Estimate(ctx, q)
	if err != nil {
		return workflows.Estimate{}, err
	}
	return estimateOf(found), nil
}

// estimateOf converts the result of a simulation.
func estimateOf(found simulation.Estimate) workflows.Estimate {
	e := workflows.Estimate{EnterNow: found.EnterNow, PerDay: found.PerDay, Contacts: found.Simulated, Sampled: found.Sampled}
	for _, d := range found.Days {
		e.Days = append(e.Days, workflows.DayEstimate{Day: d.Day, Enrolled: d.Enrolled, Sends: d.Sends})
	}
	for _, s := range found.Sends {
		e.Sends = append(e.Sends, workflows.SendEstimate{Path: s.Path, Template: s.Template, PerDay: s.PerDay})
	}
	for _, end := range found.Ends {
		if end.Kind == engine.ByName {
			e.Exits = append(e.Exits, workflows.ExitEstimate{Name: end.Exit, Count: end.Count})
		}
	}
	return e
}
