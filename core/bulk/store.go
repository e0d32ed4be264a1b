package bulk

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
)

// JobStore stores bulk writes: their jobs, the rows in chunks, and the outcomes of rows.
type JobStore interface {
	// InsertBulkJob stores a new bulk write with its rows, split into consecutive chunks. It
	// fails with core.CodeConflict if a bulk write with the same id exists.
	InsertBulkJob(ctx context.Context, orgID string, j Job, chunks []Chunk) error
	// BulkJob returns the bulk write with the id. Inside a transaction it locks the bulk
	// write until the transaction ends, so that only one worker processes it.
	BulkJob(ctx context.Context, orgID, id string) (Job, error)
	// UpdateBulkJob replaces the status, counts, attempts and completion time of the bulk
	// write with the id j.ID.
	UpdateBulkJob(ctx context.Context, orgID string, j Job) error
	// OpenBulkJobs returns the ids of the unfinished bulk writes, oldest first.
	OpenBulkJobs(ctx context.Context, orgID string) ([]string, error)
	// DeleteBulkJobs deletes at most limit bulk writes that finished before the given time.
	// It returns how many it deleted.
	DeleteBulkJobs(ctx context.Context, orgID string, before time.Time, limit int) (int, error)

	// BulkChunk returns one chunk of a bulk write: the chunk whose first row has the index
	// in the parameter first.
	BulkChunk(ctx context.Context, orgID, jobID string, first int) (Chunk, error)
	// FinishBulkChunk replaces the rows of a chunk by their outcomes. The parameter first is
	// the index of the chunk's first row in the bulk write.
	FinishBulkChunk(ctx context.Context, orgID, jobID string, first int, outcomes []Item) error
	// BulkItems returns outcomes of a bulk write in the order of its rows, beginning with
	// the row whose index is from. It returns at least limit outcomes if there are so many,
	// and may return more.
	BulkItems(ctx context.Context, orgID, jobID string, from, limit int) ([]Item, error)
}

// ContactStore reads and writes many contacts with each call.
type ContactStore interface {
	// ContactsByKeys returns the contacts that have one of the email keys or external ids,
	// including archived contacts, and locks them until the transaction ends. It does not
	// read their lists. A contact that matches by both is returned twice.
	ContactsByKeys(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]NamedContact, error)
	// WriteContacts writes many contacts. The ids of inserted contacts, and all addresses
	// and external ids, must not belong to other contacts. On a conflict with a concurrent
	// writer, the transaction of the call runs again.
	WriteContacts(ctx context.Context, orgID string, w ContactsWrite) error
	// JoinList puts the active contacts among those with the ids on a list, and writes that
	// to the membership log. It returns the ids of the contacts that were not on the list.
	JoinList(ctx context.Context, orgID, listID string, contactIDs []string, at time.Time) (joined []string, err error)
}

// Status is the state of processing of a bulk write.
type Status string

// The states of a bulk write.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Completed  Status = "completed"
	// Failed means that the bulk write was ended after repeated errors. Rows that were
	// already processed keep their outcomes.
	Failed Status = "failed"
)

// Job is a bulk write.
type Job struct {
	ID string
	// Caller identifies who started the bulk write: an API caller (see
	// core.Principal.Caller), or an import (see consent.Source). It is "" for an
	// import that an earlier version of Mailhelm started.
	Caller      string
	Status      Status
	Total       int
	Processed   int
	Succeeded   int
	Failed      int
	Attempts    int
	CreatedAt   time.Time
	CompletedAt *time.Time
}

// source returns who changes the consent of the contacts that the bulk write names.
func (j Job) source() consent.Source { return consent.Source(j.Caller) }

// Chunk has consecutive rows of a bulk write, as the caller sent them. First is the index
// of its first row.
type Chunk struct {
	First int
	Rows  []json.RawMessage
}

// NamedContact is a contact, with the consent that callers stated and that has not yet been
// written to the sending account. Pending is nil if there is no such consent.
type NamedContact struct {
	contacts.Contact
	Pending *consent.Pending
	// HasActivities is true if the contact is a shell (only a sync has written it) and has
	// activities.
	HasActivities bool
}

// ContactsWrite is a write of many contacts. Its fields are in the order in which the store
// writes them.
type ContactsWrite struct {
	At time.Time
	// Drop has the ids of shells (contacts that only a sync created) to delete, because
	// other contacts get their addresses.
	Drop []string
	// Update has the contacts that are already stored, Insert the new contacts. No contact
	// is in both slices.
	Update, Insert []contacts.Contact
	// Lists maps the id of a contact to the ids of all static lists that it is on after the
	// write.
	Lists map[string][]string
	// Push maps the id of a contact to the consent that a job writes to the sending account
	// after the transaction.
	Push map[string]consent.Pending
}
