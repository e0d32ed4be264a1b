package serve

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
	"github.com/mailhelm/mailhelm/storage"
)

// dryRuns lets one contact run through a workflow in memory.
type dryRuns struct{ db *storage.DB }

func (d dryRuns) DryRun(ctx context.Context, orgID string, checked *language.Checked, workflowID, contactID string, now time.Time) ([]workflows.DryStep, error) {
	schema, err := d.db.Segments().PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	plan := engine.Compile(checked)
	subjects, err := d.db.Subjects().Subjects(ctx, segments.SubjectQuery{
		OrgID: orgID, Contacts: []string{contactID}, Schema: schema, Refs: plan.References(),
	})
	if err != nil {
		return nil, err
	}
	subject, known := subjects[contactID]
	if !known {
		return nil, core.NotFound("contact")
	}
	var steps []workflows.DryStep
	for _, s := range simulation.DryRun(plan, subject, contactID, workflowID, now) {
		steps = append(steps, workflows.DryStep{NodePath: s.NodePath, NodeType: s.NodeType, Action: workflows.DryAction(s.Action), Detail: s.Detail})
	}
	return steps, nil
}

// noEstimates answers that no contact would enter. It stands in until a store of the simulation
// finds the contacts of past days.
type noEstimates struct{}

func (noEstimates) Estimate(context.Context, string, *language.Checked, string, int, time.Time) (workflows.Estimate, error) {
	return workflows.Estimate{}, nil
}
