package audience

import (
	"context"
	"encoding/json"
	"time"
)

// BulkStore is what is remembered of bulk writes.
type BulkStore interface {
	// InsertBulkJob stores a new job with its rows, cut into chunks that follow each
	// other. It fails with core.CodeConflict when there is a job with the id.
	InsertBulkJob(ctx context.Context, orgID string, j BulkJob, chunks []BulkChunk) error
	// BulkJob finds a job by id. Inside a transaction it is locked until the
	// transaction ends, so that one at a time works on it.
	BulkJob(ctx context.Context, orgID, id string) (BulkJob, error)
	// UpdateBulkJob replaces what changes of a job found by id.
	UpdateBulkJob(ctx context.Context, orgID string, j BulkJob) error
	// OpenBulkJobs are the ids of the jobs that are not finished, oldest first.
	OpenBulkJobs(ctx context.Context, orgID string) ([]string, error)
	// DeleteBulkJobs forgets at most limit jobs that were finished before a time and
	// returns how many it were.
	DeleteBulkJobs(ctx context.Context, orgID string, before time.Time, limit int) (int, error)

	// BulkChunk is the chunk that begins at an index.
	BulkChunk(ctx context.Context, orgID, jobID string, first int) (BulkChunk, error)
	// FinishBulkChunk puts the outcomes in the place of the rows.
	FinishBulkChunk(ctx context.Context, orgID, jobID string, first int, outcomes []BulkItem) error
	// BulkItems are outcomes in the order of the rows, from an index on: at least
	// limit of them if there are so many, and perhaps more.
	BulkItems(ctx context.Context, orgID, jobID string, from, limit int) ([]BulkItem, error)

	// ContactsNamed finds contacts by EmailKey and by external id, archived ones too,
	// without their lists, and locks them until the transaction ends. One that is
	// found twice comes twice.
	ContactsNamed(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]NamedContact, error)
	// WriteContacts stores many contacts at once. New ones must be new and changed
	// ones keep names that nobody else has: who writes concurrently is found out, and
	// then the transaction of the call runs again.
	WriteContacts(ctx context.Context, orgID string, w ContactsWrite) error
}

// BulkStatus says how far a bulk write is.
type BulkStatus string

// The states of a bulk write.
const (
	BulkQueued     BulkStatus = "queued"
	BulkProcessing BulkStatus = "processing"
	BulkCompleted  BulkStatus = "completed"
	// BulkFailed: it could not go on. What is processed stays so.
	BulkFailed BulkStatus = "failed"
)

// BulkJob is a bulk write.
type BulkJob struct {
	ID string
	// Caller is who asked for it; see core.Principal.Caller.
	Caller      string
	Status      BulkStatus
	Total       int
	Processed   int
	Succeeded   int
	Failed      int
	Attempts    int
	CreatedAt   time.Time
	CompletedAt *time.Time
}

// BulkChunk is rows that follow each other, as they came.
type BulkChunk struct {
	First int
	Rows  []json.RawMessage
}

// NamedContact is a contact with what the account has yet to be told of it, nil for
// nothing.
type NamedContact struct {
	Contact
	Pending *Said
}

// ContactsWrite is what becomes of many contacts at one time, in the order in which
// it has to be done.
type ContactsWrite struct {
	At time.Time
	// Drop are shells, by id, that stand where others move to.
	Drop []string
	// Update are contacts that exist, Insert those that do not; none is in both.
	Update, Insert []Contact
	// Lists are the static lists, by id, that a contact, by id, is on from now on.
	Lists map[string][]string
	// Push are the contacts whose consent the account has to be told, by id.
	Push map[string]Said
}

// Said is what was said about a contact's consent and has not come to the account,
// with the times in microseconds since 1970. What was said holds there against an
// earlier no; about everything else what the account holds wins.
type Said struct {
	// UnsubscribeAll is when the global opt-out was said, true or false; 0 for never.
	UnsubscribeAll int64            `json:"all,omitempty"`
	Topics         map[string]int64 `json:"topics,omitempty"`
	// Left are addresses that the contact had.
	Left []string `json:"left,omitempty"`
	// Fresh is true when the address was another contact's just before: what the
	// account holds there is that one's consent.
	Fresh bool `json:"fresh,omitempty"`
}
