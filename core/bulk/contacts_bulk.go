package bulk

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
)

// bulkChunk is the number of rows that one transaction writes. After a crash, at most one
// chunk is repeated. On SQLite, other writers wait for at most one chunk.
const bulkChunk = 1000

// In has the rows of a bulk write, each with a contact to create or change.
type In struct {
	Contacts Rows `json:"contacts" jsonschema_description:"The rows, written in this order."`
}

// Accepted confirms that a bulk write was stored and will be processed by a job.
type Accepted struct {
	JobID  string `json:"job_id" jsonschema:"format=uuid" jsonschema_description:"Address that returns the progress."`
	Status Status `json:"status" jsonschema:"enum=queued"`
}

func (b *Bulk) contactsBulk() core.Operation {
	return core.Declare(core.Op[In, Accepted]{
		Name:  "contacts_bulk",
		Title: "Create or change many contacts",
		Purpose: "Takes up to 5,000 rows and writes them in the background, in their order, each like contacts_upsert_by_external_id. " +
			"Use it for imports. Returns the id of a job, for contacts_bulk_get. An invalid row fails alone. " +
			"The sending account gets the consent afterwards.",
		Example: `{"contacts": [{"external_id": "customer-1044", "email": "juno.smit@example.com", "attributes": {"first_name": "Juno"}}, {"email": "otto.klein@example.com", "lists": ["newsletter"], "unsubscribe_all": true}]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Do: func(ctx context.Context, c *core.Call, in In) (Accepted, error) {
			id := core.NewID()
			if err := b.acceptBulk(ctx, c.Principal.Org.ID, c.Principal.Caller(), id, in.Contacts); err != nil {
				return Accepted{}, err
			}
			c.SetSubject(id)
			return Accepted{JobID: id, Status: Queued}, nil
		},
	})
}

// acceptBulk stores the rows as a bulk write with the id and queues its job. caller is that
// of [Job].
func (b *Bulk) acceptBulk(ctx context.Context, org, caller, id string, rows []json.RawMessage) error {
	var chunks []Chunk
	for first := 0; first < len(rows); first += bulkChunk {
		chunks = append(chunks, Chunk{First: first, Rows: rows[first:min(first+bulkChunk, len(rows))]})
	}
	job := Job{ID: id, Caller: caller, Status: Queued, Total: len(rows), CreatedAt: b.Clock()}
	if err := b.Store.InsertBulkJob(ctx, org, job, chunks); err != nil || b.Queue == nil {
		return err
	}
	return b.Queue.Enqueue(ctx, Args{OrgID: org, JobID: id})
}
