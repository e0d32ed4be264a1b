package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Store stores workflows and their versions. Every method sees only the given organization and
// takes part in the transaction of its context. Methods that find one record fail with
// core.CodeNotFound if there is none.
type Store interface {
	// Insert fails with core.CodeConflict if another workflow has the key.
	Insert(ctx context.Context, orgID string, w Workflow) error
	// Update replaces all fields of the workflow except its id, its key and its creation time.
	Update(ctx context.Context, orgID string, w Workflow) error
	// Workflow returns the workflow with the id ref or, if ref is no id, with the key ref. In a
	// transaction it locks the workflow until the transaction ends.
	Workflow(ctx context.Context, orgID, ref string) (Workflow, error)
	// Workflows returns one page, newest first by creation time and id. Count returns the
	// number of all that match.
	Workflows(ctx context.Context, orgID string, f Filter) ([]Workflow, error)
	Count(ctx context.Context, orgID string, f Filter) (int, error)
	// SaveVersion stores a version. It replaces one with the same number that was never
	// activated.
	SaveVersion(ctx context.Context, orgID, workflowID string, v Version) error
	Version(ctx context.Context, orgID, workflowID string, number int) (Version, error)
	// Versions returns all versions, newest first.
	Versions(ctx context.Context, orgID, workflowID string) ([]Version, error)
	// Cap returns the limit of messages of workflows to a contact that holds for workflows
	// without one of their own, nil for none. SetCap stores it.
	Cap(ctx context.Context, orgID string) (*language.Cap, error)
	SetCap(ctx context.Context, orgID string, limit *language.Cap) error
}

// Filter selects a page of workflows. Fields with their zero value select all.
type Filter struct {
	// Query is a part of the name or the key, in any case.
	Query  string
	Status Status
	After  *core.After
	Limit  int
}

// RunStore reads runs. Every method sees only the given organization and takes part in the
// transaction of its context.
type RunStore interface {
	// Counts returns the numbers of runs by status, for each of the workflows.
	Counts(ctx context.Context, orgID string, workflowIDs []string) (map[string]map[engine.Status]int, error)
	// Runs returns one page of runs, newest first by id.
	Runs(ctx context.Context, orgID string, f RunFilter) ([]Run, error)
	// Run returns one run. It fails with core.CodeNotFound if the workflow has no such run.
	Run(ctx context.Context, orgID, workflowID, runID string) (Run, error)
	// Timeline returns the events of a run in their order.
	Timeline(ctx context.Context, orgID string, run Run) ([]Event, error)
	// Exits counts the ends of the runs of a workflow. version 0 means all versions.
	Exits(ctx context.Context, orgID, workflowID string, version int) ([]ExitCount, error)
	// Nodes counts the runs and entries at each step of a version that a run has entered.
	Nodes(ctx context.Context, orgID, workflowID string, version int) ([]NodeCount, error)
	// Sends counts the outcomes of the messages of each send step of a version.
	Sends(ctx context.Context, orgID, workflowID string, version int) ([]SendCount, error)
	// At counts the active runs at each step of a version.
	At(ctx context.Context, orgID, workflowID string, version int) (map[string]int, error)
	// Started counts the runs that began on each day (UTC) since the time, sorted by day.
	Started(ctx context.Context, orgID, workflowID string, since time.Time) ([]DayCount, error)
	// ContactNames returns the addresses of contacts by id. It skips unknown ids.
	ContactNames(ctx context.Context, orgID string, contactIDs []string) (map[string]string, error)
}

// HoldStore has the messages that wait for a person. Every method sees only the given
// organization and takes part in the transaction of its context.
type HoldStore interface {
	// Held returns one page of runs with held messages, the oldest first by id. workflowID ""
	// means all workflows. CountHeld returns the numbers of all, by workflow.
	Held(ctx context.Context, orgID, workflowID, after string, limit int) ([]Run, error)
	CountHeld(ctx context.Context, orgID string) (map[string]int, error)
	// HeldSince returns since when the messages of runs wait, by the ids of the runs. It skips
	// runs without a message that was held.
	HeldSince(ctx context.Context, orgID string, runs []Run) (map[string]time.Time, error)
	// Decide stores a decision (engine.Approved, engine.Skipped or engine.Cancelled) about
	// the held messages of runs, which continue at once. It returns the ids of the runs that
	// still had one.
	Decide(ctx context.Context, orgID, workflowID string, runIDs []string, decision engine.Phase, now time.Time) ([]string, error)
}

// RunFilter selects a page of runs of a workflow.
type RunFilter struct {
	WorkflowID string
	// Statuses selects runs with one of the statuses; empty selects all.
	Statuses []engine.Status
	// Node selects active runs at the step; "" selects all. ContactID selects those of a contact.
	Node, ContactID string
	// After is the id after which the page begins, "" for the first page.
	After string
	Limit int
}

// ExitCount is the number of runs that ended in one way.
type ExitCount struct {
	// Type is engine.RunExited, engine.RunCompleted or engine.RunFailed.
	Type engine.EventType
	Kind engine.ExitKind
	// Name is that of a named exit.
	Name  string
	Count int
}

// NodeCount says how often a step was entered: by how many runs, and how often in total.
type NodeCount struct {
	Path          string
	Runs, Entries int
}

// SendCount counts the messages of a send step by outcome.
type SendCount struct {
	Path string
	// Deferred messages wait for the account. Filtered ones include those that were filtered
	// before they were passed on.
	Sent, Filtered, Failed, Deferred int
}

// DayCount is a number of one day, which begins at Day in UTC.
type DayCount struct {
	Day   time.Time
	Count int
}
