package bulk

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
)

// JobStore stores bulk writes: jobs, their chunks of rows, and outcomes.
type JobStore interface {
	// InsertBulkJob stores a new job with its rows, cut into consecutive chunks. It
	// fails with core.CodeConflict if a job with the id exists.
	InsertBulkJob(ctx context.Context, orgID string, j Job, chunks []Chunk) error
	// BulkJob returns a job by id. Inside a transaction it locks the job until the
	// transaction ends, so that one worker at a time processes it.
	BulkJob(ctx context.Context, orgID, id string) (Job, error)
	// UpdateBulkJob replaces the mutable columns of the job with j.ID.
	UpdateBulkJob(ctx context.Context, orgID string, j Job) error
	// OpenBulkJobs returns the ids of the unfinished jobs, oldest first.
	OpenBulkJobs(ctx context.Context, orgID string) ([]string, error)
	// DeleteBulkJobs deletes at most limit jobs that finished before a time and returns
	// how many it deleted.
	DeleteBulkJobs(ctx context.Context, orgID string, before time.Time, limit int) (int, error)

	// BulkChunk returns the chunk that begins at an index.
	BulkChunk(ctx context.Context, orgID, jobID string, first int) (Chunk, error)
	// FinishBulkChunk replaces the rows of a chunk with their outcomes.
	FinishBulkChunk(ctx context.Context, orgID, jobID string, first int, outcomes []Item) error
	// BulkItems returns outcomes in the order of the rows, starting at an index. It
	// returns at least limit of them if that many exist, and may return more.
	BulkItems(ctx context.Context, orgID, jobID string, from, limit int) ([]Item, error)
}

// ContactStore reads and writes many contacts at once.
type ContactStore interface {
	// ContactsByKeys finds contacts by EmailKey and by external id, including archived
	// ones, and locks them until the transaction ends. It leaves out their lists. A
	// contact that matches twice is returned twice.
	ContactsByKeys(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]NamedContact, error)
	// WriteContacts stores many contacts at once. Inserted ids and all names must not
	// belong to another contact. On a conflict with a concurrent writer, the transaction
	// of the call runs again.
	WriteContacts(ctx context.Context, orgID string, w ContactsWrite) error
}

// Status is the progress of a bulk write.
type Status string

// The states of a bulk write.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Completed  Status = "completed"
	// BulkFailed: the job was given up after repeated failures. Processed rows keep
	// their outcomes.
	Failed Status = "failed"
)

// Job is a bulk write.
type Job struct {
	ID string
	// Caller is the caller of the bulk write; see core.Principal.Caller.
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

// Chunk is a run of consecutive rows, as the caller sent them.
type Chunk struct {
	First int
	Rows  []json.RawMessage
}

// NamedContact is a contact with the consent that has not yet reached the account, nil
// for none.
type NamedContact struct {
	contacts.Contact
	Pending *contacts.Said
}

// ContactsWrite is a write of many contacts. Its fields are in the order in which the
// store applies them.
type ContactsWrite struct {
	At time.Time
	// Drop lists the ids of shells at addresses that other contacts move to.
	Drop []string
	// Update lists contacts that exist, Insert contacts that do not. No contact is in
	// both.
	Update, Insert []contacts.Contact
	// Lists maps a contact's id to the ids of the static lists that it is on after the
	// write.
	Lists map[string][]string
	// Push maps a contact's id to its subscription choices, which a job writes to the
	// sending account after the transaction.
	Push map[string]contacts.Said
}
