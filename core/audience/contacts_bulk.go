package audience

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
)

// bulkChunk is how many rows one transaction writes. A server that is killed repeats at
// most one chunk. Other writers of SQLite wait for one chunk at a time.
const bulkChunk = 1000

// BulkIn has the contacts to create or change.
type BulkIn struct {
	Contacts BulkRows `json:"contacts" jsonschema_description:"The rows, in the order in which they are done."`
}

// BulkAccepted confirms that a bulk write was stored and will be processed.
type BulkAccepted struct {
	JobID  string     `json:"job_id" jsonschema:"format=uuid" jsonschema_description:"Reads how far it is."`
	Status BulkStatus `json:"status" jsonschema:"enum=queued"`
}

func (a *Audience) contactsBulk() core.Operation {
	return core.Declare(core.Op[BulkIn, BulkAccepted]{
		Name:  "contacts_bulk",
		Title: "Create or change many contacts",
		Purpose: "Takes up to 5,000 rows and does them in the background, in their order, each as contacts_upsert_by_external_id does one. " +
			"Use it for imports. Returns the id of a job that contacts_bulk_get reads. A row that cannot be done fails alone. " +
			"The sending account is not asked; it is told of the consent afterwards.",
		Effect: core.Writes,
		Scopes: []core.Scope{core.ContactsManage},
		Do: func(ctx context.Context, c *core.Call, in BulkIn) (BulkAccepted, error) {
			id := core.NewID()
			if err := a.acceptBulk(ctx, c.Principal.Org.ID, c.Principal.Caller(), id, in.Contacts); err != nil {
				return BulkAccepted{}, err
			}
			c.About(id)
			return BulkAccepted{JobID: id, Status: BulkQueued}, nil
		},
	})
}

// acceptBulk stores the rows under a new id and queues the job. caller is "" for rows
// that come from no call.
func (a *Audience) acceptBulk(ctx context.Context, org, caller, id string, rows []json.RawMessage) error {
	var chunks []BulkChunk
	for first := 0; first < len(rows); first += bulkChunk {
		chunks = append(chunks, BulkChunk{First: first, Rows: rows[first:min(first+bulkChunk, len(rows))]})
	}
	job := BulkJob{ID: id, Caller: caller, Status: BulkQueued, Total: len(rows), CreatedAt: a.Clock()}
	if err := a.Store.InsertBulkJob(ctx, org, job, chunks); err != nil || a.Queue == nil {
		return err
	}
	return a.Queue.Enqueue(ctx, BulkArgs{OrgID: org, JobID: id})
}
