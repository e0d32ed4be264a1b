package population

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/simulation"
)

// Config configures a [Population]. All fields are required.
type Config struct {
	// Schemas is a segments.Store.
	Schemas  Schemas
	Subjects segments.SubjectStore
	Members  Counter
	Triggers TriggerStore
	Caps     Caps
	// Runs is a workflows.RunStore, and Past a workflows.EntryStore.
	Runs RunCounter
	Past PastRuns
}

// Schemas reads the names that predicates may use; see [segments.Store].
type Schemas interface {
	PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error)
}

// Counter counts contacts; see [segments.MemberStore].
type Counter interface {
	CountMatching(ctx context.Context, q segments.Question) (int, error)
}

// Caps reads the limit of messages of an organization; see [workflows.Store].
type Caps interface {
	Cap(ctx context.Context, orgID string) (*language.Cap, error)
}

// RunCounter counts the runs of workflows; see [workflows.RunStore].
type RunCounter interface {
	Counts(ctx context.Context, orgID string, workflowIDs []string) (map[string]map[engine.Status]int, error)
}

// PastRuns reads the last runs of contacts; see [workflows.EntryStore].
type PastRuns interface {
	Past(ctx context.Context, orgID, workflowID string, contactIDs []string) (map[string]workflows.Run, error)
}

// TriggerStore reads when triggers have happened, except for those of dates. Every method sees
// only the given organization and takes part in the transaction of its context.
type TriggerStore interface {
	// CountTriggered returns the number of contacts for whom the trigger has happened since the
	// time and before the other.
	CountTriggered(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time) (int, error)
	// Triggered returns up to limit of these contacts, with the times in their order. If there
	// are more, it returns those with the least ends of their ids, which are random.
	Triggered(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time, limit int) (map[string][]time.Time, error)
}

// Population is a [workflows.DryRuns] and a [workflows.Estimates].
type Population struct{ Config }

// New returns a Population.
func New(cfg Config) *Population { return &Population{cfg} }

// DryRun returns what the workflow would do for a contact; see [workflows.DryRuns].
func (p *Population) DryRun(ctx context.Context, orgID string, checked *language.Checked, workflowID, contactID string, now time.Time) ([]workflows.DryStep, error) {
	schema, err := p.Schemas.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	plan := engine.Compile(checked)
	subjects, err := p.Subjects.Subjects(ctx, segments.SubjectQuery{OrgID: orgID, Contacts: []string{contactID}, Schema: schema, Refs: plan.References()})
	if err != nil {
		return nil, err
	}
	subject, active := subjects[contactID]
	if !active {
		return nil, core.NotFound("contact")
	}
	var steps []workflows.DryStep
	for _, s := range simulation.DryRun(plan, subject, contactID, workflowID, now) {
		steps = append(steps, workflows.DryStep{NodePath: s.NodePath, NodeType: s.NodeType, Action: workflows.DryAction(s.Action), Detail: s.Detail})
	}
	return steps, nil
}

// Estimate returns who would enter a workflow; see [workflows.Estimates].
func (p *Population) Estimate(ctx context.Context, orgID string, checked *language.Checked, workflowID string, days int, now time.Time) (workflows.Estimate, error) {
	r, err := p.reader(ctx, orgID, checked)
	if err != nil {
		return workflows.Estimate{}, err
	}
	if days == 0 {
		n, err := r.countExisting(ctx, workflowID, now)
		return workflows.Estimate{EnterNow: n}, err
	}
	limit, err := p.Caps.Cap(ctx, orgID)
	if err != nil {
		return workflows.Estimate{}, err
	}
	found, err := simulation.NewEstimator(r).Estimate(ctx, simulation.Question{
		OrgID: orgID, WorkflowID: workflowID, Plan: r.plan, SegmentID: r.trigger.Source, Days: days, Now: now, Cap: limit,
	})
	return estimateOf(found), err
}

// estimateOf returns what callers see of an estimate.
func estimateOf(e simulation.Estimate) workflows.Estimate {
	out := workflows.Estimate{EnterNow: e.EnterNow, PerDay: e.PerDay, Contacts: e.Contacts, Sampled: e.Sampled}
	for _, d := range e.Days {
		out.Days = append(out.Days, workflows.DayEstimate(d))
	}
	for _, s := range e.Sends {
		out.Sends = append(out.Sends, workflows.SendEstimate(s))
	}
	for _, end := range e.Ends {
		if end.Kind == engine.ByName {
			out.Exits = append(out.Exits, workflows.ExitEstimate{Name: end.Exit, Count: end.Count})
		}
	}
	return out
}

// reader reads the contacts for the estimate of one workflow; it is a [simulation.Store].
type reader struct {
	*Population
	orgID   string
	schema  segments.Schema
	plan    *engine.Plan
	trigger workflows.Trigger
}

func (p *Population) reader(ctx context.Context, orgID string, checked *language.Checked) (reader, error) {
	schema, err := p.Schemas.PredicateSchema(ctx, orgID)
	return reader{p, orgID, schema, engine.Compile(checked), workflows.TriggerOf(checked.Tree().Settings.Trigger, schema.Segments)}, err
}

// Subjects implements [simulation.Store].
func (r reader) Subjects(ctx context.Context, orgID string, contactIDs []string, refs predicate.References) (map[string]predicate.Subject, error) {
	return r.Population.Subjects.Subjects(ctx, segments.SubjectQuery{OrgID: orgID, Contacts: contactIDs, Schema: r.schema, Refs: refs})
}
