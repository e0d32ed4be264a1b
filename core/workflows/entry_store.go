package workflows

import (
	"context"
	"time"
)

// EntryStore has the triggers that have happened, and starts runs. Every method sees only the
// given organization and takes part in the transaction of the context.
type EntryStore interface {
	// Note adds entries for the live workflows with a trigger of this kind and source. It skips
	// triggers of before the last activation, such as an activity that was recorded later with
	// its own time. rows name contacts by id.
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

	// Candidates returns up to limit contacts with ids after the given one for which the
	// trigger has happened since the time and until the other, in the order of their ids:
	// members of the segment, or contacts with the activity or event. A zero since means any
	// time. It is not for date triggers.
	Candidates(ctx context.Context, orgID string, t Trigger, since, until time.Time, after string, limit int) ([]string, error)
}
