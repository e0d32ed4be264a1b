package runner

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// Config configures a [Runner]. All fields are required, unless their comments define what nil
// means.
type Config struct {
	Store      workflows.Store
	Timers     workflows.TimerStore
	Entries    workflows.EntryStore
	Changes    workflows.ChangeStore
	Mails      workflows.MailStore
	Transactor core.Transactor

	Subjects Subjects
	Schemas  Schemas
	Contacts Contacts
	// Revalidate checks the workflows of an organization, and marks those as invalid that do
	// not compile any more.
	Revalidate func(ctx context.Context, orgID string) error
	// Mailed lets the mailer of this process look for messages at once. nil means that there
	// is none.
	Mailed func()

	Clock core.Clock
	Log   *slog.Logger
}

// Subjects reads the data of contacts; see [segments.SubjectStore].
type Subjects interface {
	Subjects(ctx context.Context, q segments.SubjectQuery) (map[string]predicate.Subject, error)
	Matching(ctx context.Context, q segments.Question, after string, limit int) ([]string, error)
}

// Schemas has the names that workflows may use.
type Schemas interface {
	workflows.Schemas
	// PredicateSchema returns the names that predicates may use, with the columns of
	// attributes.
	PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error)
}

// Contacts changes contacts. Its methods take part in the transaction of the context.
type Contacts interface {
	// SetAttributes sets attributes of a contact. It does nothing if the contact is archived.
	SetAttributes(ctx context.Context, orgID, contactID string, values map[string]any) error
	// AddToLists adds a contact to lists. It skips lists that are archived.
	AddToLists(ctx context.Context, orgID, contactID string, listIDs []string) error
}

// LookEvery is the interval at which a process looks for work.
const LookEvery = time.Second

const (
	// maxRunning is the number of workflows that one process works for at the same time.
	maxRunning = 4
	// lookLimit is the maximum number of workflows that one look reads. Those that it leaves
	// out are read at one of the next looks, because their order is random.
	lookLimit = 200
	// driveTime is how long a process works for one workflow before it looks for others.
	driveTime = 5 * time.Second
	// retryAfter is the wait after work that failed.
	retryAfter = 5 * time.Second
)

// Runner keeps the runs of workflows moving. At each look it also wakes the runs of contacts
// that have changed.
type Runner struct {
	Config
	*workpool.Pool[workflows.Busy]
	plans planCache
}

// New returns a Runner that does nothing yet.
func New(cfg Config) *Runner {
	r := &Runner{
		Config: cfg,
		plans:  planCache{schemas: cfg.Schemas, store: cfg.Store, clock: cfg.Clock, known: map[planKey]cachedPlan{}},
	}
	r.Pool = workpool.New(workpool.Config[workflows.Busy]{
		Limit: maxRunning, RetryAfter: retryAfter, Before: r.wakeChanged, Do: r.drive, Clock: cfg.Clock, Log: cfg.Log,
		Find: func(ctx context.Context, _ int) ([]workflows.Busy, error) {
			return r.Timers.Busy(ctx, r.Clock(), lookLimit)
		},
		FindFailed: "work for workflows could not be looked for", DoFailed: "the runs of a workflow could not be moved; it is tried again",
		Attributes: func(busy workflows.Busy) []any { return []any{"org_id", busy.OrgID, "workflow_id", busy.WorkflowID} },
	})
	return r
}

// drive does the tasks of a workflow in turn until none of them has anything to do, or for the
// time of a drive.
func (r *Runner) drive(ctx context.Context, busy workflows.Busy) (rest time.Time, err error) {
	end := r.Clock().Add(driveTime)
	for again := true; again && ctx.Err() == nil && r.Clock().Before(end); {
		again = false
		found, err := r.Store.Workflow(ctx, busy.OrgID, busy.WorkflowID)
		if core.IsNotFound(err) {
			return time.Time{}, nil
		}
		if err != nil {
			return time.Time{}, err
		}
		for _, task := range []func(context.Context, string, workflows.Workflow) (bool, error){r.close, r.enter, r.backfill, r.move} {
			more, err := task(ctx, busy.OrgID, found)
			if err != nil {
				return time.Time{}, err
			}
			again = again || more
		}
	}
	return time.Time{}, nil
}

// close ends runs of an archived workflow. more is true if there may be others.
func (r *Runner) close(ctx context.Context, orgID string, w workflows.Workflow) (more bool, err error) {
	if !w.Closing {
		return false, nil
	}
	n, err := r.Timers.EndRuns(ctx, orgID, w.ID, r.Clock(), batch)
	if err != nil || n == batch {
		return n == batch, err
	}
	return false, r.Transactor.InTx(ctx, func(ctx context.Context) error {
		w, err := r.Store.Workflow(ctx, orgID, w.ID)
		if err != nil {
			return err
		}
		w.Closing = false
		return r.Store.Update(ctx, orgID, w)
	})
}

// wakeChanged wakes the runs of contacts that have changed.
func (r *Runner) wakeChanged(ctx context.Context) error {
	orgs, err := r.Changes.Touched(ctx, lookLimit)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		for range wakeRounds {
			n, err := r.Changes.Wake(ctx, org, r.Clock(), batch)
			if err != nil {
				return err
			}
			if n < batch {
				break
			}
		}
	}
	return nil
}

// wakeRounds is the number of batches of notes of one organization that a look reads.
const wakeRounds = 20
