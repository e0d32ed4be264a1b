package workflows

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Config configures [Workflows]. All fields are required, unless their comments define what
// nil means.
type Config struct {
	Store      Store
	Runs       RunStore
	Holds      HoldStore
	Timers     TimerStore
	Entries    EntryStore
	Transactor core.Transactor

	Schemas   Schemas
	DryRuns   DryRuns
	Estimates Estimates
	// Orgs returns the ids of all organizations.
	Orgs func(ctx context.Context) ([]string, error)
	// Wake lets the runner of this process look for work at once. nil means that there is
	// none.
	Wake func()

	Clock core.Clock
	Log   *slog.Logger
}

// Schemas has the names that workflows may use.
type Schemas interface {
	// WorkflowSchema returns the attributes, properties, topics, lists, segments and templates
	// of an organization. It takes part in the transaction of its context.
	WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error)
}

// DryRuns lets one contact run through a workflow in memory.
type DryRuns interface {
	// DryRun returns what the workflow would do for the contact from now on, if no data of the
	// contact changes. It sends and stores nothing. workflowID is "" for a workflow that is not
	// stored. It fails with core.CodeNotFound for an unknown contact.
	DryRun(ctx context.Context, orgID string, checked *language.Checked, workflowID, contactID string, now time.Time) ([]DryStep, error)
}

// Estimates computes how many contacts would enter a workflow.
type Estimates interface {
	// Estimate returns who would enter at an activation now, and what the workflow would have
	// done in the last days. If days is 0, it only sets EnterNow. It sends and stores nothing.
	// workflowID is "" for a workflow that is not stored.
	Estimate(ctx context.Context, orgID string, checked *language.Checked, workflowID string, days int, now time.Time) (Estimate, error)
}

// Workflows has the operations on workflows, and the searches of pages.
type Workflows struct{ *Editor }

// Editor has what people do with workflows on the dashboard. Callers check permissions and
// record the changes in the audit log. Each method is one transaction, and takes part in that
// of its context.
type Editor struct {
	Config
	projections *cache.Cache[projection, Estimate]
}

// New returns a Workflows.
func New(cfg Config) *Workflows {
	return &Workflows{&Editor{cfg, cache.New[projection, Estimate](maxProjections)}}
}

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (w *Workflows) Operations() []core.Operation {
	return []core.Operation{
		w.workflowsList(), w.workflowsGet(), w.workflowsRuns(), w.workflowsExits(), w.workflowsFunnel(), w.workflowsTimeline(),
		w.workflowsGetPerformance(), w.workflowsDryRun(), w.workflowsEstimateEnrollment(),
		w.workflowsAuthor(), w.workflowsActivate(),
	}
}

// wake lets the runner of this process look for work.
func (e *Editor) wake() {
	if e.Wake != nil {
		e.Wake()
	}
}
