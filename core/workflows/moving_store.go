package workflows

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// MovingStore is what package runner stores. Except for Busy, every method sees only the given
// organization; all take part in the transaction of the context.
type MovingStore interface {
	// Busy returns up to limit live workflows of all organizations that have something to do
	// at the time: a timer that has ended, an entry, a date to look for or a backfill. The
	// order is random, so that no organization comes last every time.
	Busy(ctx context.Context, now time.Time, limit int) ([]Busy, error)

	// Due returns up to limit active runs of a workflow whose WakeAt has come, the oldest
	// first. In a transaction it locks them until the transaction ends, and skips those that
	// another transaction has locked.
	Due(ctx context.Context, orgID, workflowID string, now time.Time, limit int) ([]Run, error)
	// Move stores the states of runs and adds events.
	Move(ctx context.Context, orgID, workflowID string, runs []Run, events []Event) error

	// Note adds entries for the live workflows with a trigger of this kind and source. rows
	// name contacts by id.
	Note(ctx context.Context, orgID string, kind TriggerKind, source string, rows []Entry) error
	// NoteRecipients is Note for contacts that are named by the key of their address
	// (core.EmailKey) in ContactID. It skips unknown addresses.
	NoteRecipients(ctx context.Context, orgID string, source string, rows []Entry) error
	// Entries returns the oldest entries of a workflow. In a transaction it locks them, and
	// skips those that another transaction has locked. Forget removes entries.
	Entries(ctx context.Context, orgID, workflowID string, limit int) ([]Entry, error)
	Forget(ctx context.Context, orgID, workflowID string, ids []string) error
	// Past returns the last runs of contacts in a workflow, by contact. It skips contacts
	// without a run.
	Past(ctx context.Context, orgID, workflowID string, contactIDs []string) (map[string]Run, error)
	// Enroll stores new runs with their events. It skips runs of contacts that have an active
	// run in the workflow. once also skips contacts that have any run. It returns the number
	// of runs that it stored.
	Enroll(ctx context.Context, orgID, workflowID string, runs []Run, once bool) (int, error)

	// Touch notes that contacts have changed, if the organization has a live workflow whose
	// runs wait for changes. TouchRecipients does so for the contacts with these keys of
	// addresses. Touched returns up to limit organizations with notes.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touched(ctx context.Context, limit int) (orgIDs []string, err error)
	// Wake lets the runs continue that wait for a change of contacts with notes, and removes up
	// to limit notes. It returns the number of notes. It runs in a transaction of its own.
	Wake(ctx context.Context, orgID string, now time.Time, limit int) (int, error)

	// Candidates returns up to limit contacts with ids after the given one for which the
	// trigger has happened since the time and until the other, in the order of their ids:
	// members of the segment, or contacts with the activity or event. A zero since means any
	// time. It is not for date triggers.
	Candidates(ctx context.Context, orgID string, t Trigger, since, until time.Time, after string, limit int) ([]string, error)
	// EndRuns ends up to limit active runs of an archived workflow and returns their number.
	EndRuns(ctx context.Context, orgID, workflowID string, now time.Time, limit int) (int, error)
	// AllLive returns the workflows of an organization that are active, paused or invalid.
	AllLive(ctx context.Context, orgID string) ([]Workflow, error)
}

// Busy is a workflow that has something to do.
type Busy struct {
	OrgID, WorkflowID string
}

// EventKey returns the name of an event of mail in triggers, such as "click".
func EventKey(kind predicate.EventKind) string { return predicate.Event{Kind: kind}.String() }
