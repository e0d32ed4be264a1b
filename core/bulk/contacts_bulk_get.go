package bulk

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
)

// ItemStatus is the outcome of a row of a bulk write.
type ItemStatus string

// The outcomes of a row.
const (
	ItemCreated ItemStatus = "created"
	ItemUpdated ItemStatus = "updated"
	ItemFailed  ItemStatus = "failed"
)

// Item is the outcome of one row of a bulk write.
type Item struct {
	Index      int        `json:"index" jsonschema_description:"Place of the row, from 0."`
	Status     ItemStatus `json:"status" jsonschema:"enum=created,enum=updated,enum=failed"`
	ContactID  string     `json:"contact_id,omitempty" jsonschema:"format=uuid"`
	Email      string     `json:"email,omitempty" voice:"untrusted"`
	ExternalID *string    `json:"external_id,omitempty" voice:"untrusted"`
	Mailable   *bool      `json:"mailable,omitempty" jsonschema_description:"Whether the contact may get mail at all, after the row. Absent for a failed row."`
	Reason     string     `json:"reason,omitempty" voice:"ours" jsonschema_description:"Of a failed row: the code of the error that a single write would have had."`
	Errors     []Fault    `json:"errors,omitempty" jsonschema_description:"Of a failed row: each invalid member, with the reason."`
}

// mailable and notMailable are shared by the outcomes of all rows, so that an outcome needs
// no allocation for its Mailable pointer.
var mailable, notMailable = true, false

// mailability returns a pointer to a shared variable with the value of is, for the optional
// member Item.Mailable.
func mailability(is bool) *bool {
	if is {
		return &mailable
	}
	return &notMailable
}

// Fault describes an error in one member of a row. It may contain text of the row.
type Fault struct {
	Field  string `json:"field" voice:"untrusted" jsonschema_description:"Path of the member with dots; empty for the whole row."`
	Reason string `json:"reason" voice:"untrusted"`
}

// failedItem returns the outcome of a row of a bulk write that was refused with err. index
// is the row's position in the bulk write. cl has the row's address and external id.
func failedItem(index int, cl contacts.Claim, err error) Item {
	refusal := core.AsError(err)
	item := Item{Index: index, Status: ItemFailed, Email: core.Quotable(cl.Email, maxEmailLength), Reason: string(refusal.Code)}
	for _, f := range refusal.Fields {
		item.Errors = append(item.Errors, Fault(f))
	}
	if cl.ExternalID != "" {
		shown := core.Quotable(cl.ExternalID, maxExternalID)
		item.ExternalID = &shown
	}
	if len(item.Errors) == 0 {
		field := "external_id"
		if refusal.Code == core.CodeContactEmailTaken || cl.ExternalID == "" {
			field = "email"
		}
		item.Errors = []Fault{{Field: field, Reason: refusal.Message}}
	}
	return item
}

// GetIn has the id of a bulk write, and the size and cursor of the requested page of its
// outcomes.
type GetIn struct {
	JobID  string `json:"job_id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the job, from contacts_bulk."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// Progress has the state and the counts of a bulk write, with a page of the outcomes of its
// rows.
type Progress struct {
	JobID       string     `json:"job_id" jsonschema:"format=uuid"`
	Status      Status     `json:"status" jsonschema:"enum=queued,enum=processing,enum=completed,enum=failed"`
	Total       int        `json:"total"`
	Processed   int        `json:"processed"`
	Succeeded   int        `json:"succeeded"`
	Failed      int        `json:"failed"`
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at" jsonschema:"nullable" jsonschema_description:"When the last row was written; null before that."`
	Results     []Item     `json:"results" jsonschema_description:"Results of the processed rows, in their order."`
	NextCursor  *string    `json:"next_cursor" voice:"ours" jsonschema:"nullable" jsonschema_description:"The cursor of the next page, even if its rows are not processed yet; null after the last row."`
}

func (b *Bulk) contactsBulkGet() core.Operation {
	return core.Declare(core.Op[GetIn, Progress]{
		Name:    "contacts_bulk_get",
		Title:   "Read the progress of a bulk write",
		Purpose: "Reads the progress of a bulk write of contacts, and a page of the results of its rows. They are kept for seven days after its end.",
		Example: `{"job_id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a103", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetIn) (Progress, error) {
			return b.bulkProgress(ctx, c.Principal.Org.ID, in)
		},
	})
}

func (b *Bulk) bulkProgress(ctx context.Context, org string, in GetIn) (Progress, error) {
	filter := "bulk " + in.JobID
	keys, err := core.DecodeCursor(filter, in.Cursor, 1)
	if err != nil {
		return Progress{}, err
	}
	from := 0
	if keys != nil {
		if from, err = strconv.Atoi(keys[0]); err != nil || from < 0 || from > MaxRows {
			return Progress{}, core.Invalid("cursor", "is not a cursor of this job")
		}
	}
	// The job with its counts is read first, then the outcomes. Outcomes that are stored in
	// between are left out, so that a page has no row that the counts do not include.
	job, err := b.Store.BulkJob(ctx, org, in.JobID)
	if err != nil {
		return Progress{}, err
	}
	limit := core.Limit(in.Limit)
	items, err := b.Store.BulkItems(ctx, org, in.JobID, from, limit)
	if err != nil {
		return Progress{}, err
	}
	items = items[:min(limit, len(items), max(job.Processed-from, 0))]
	p := Progress{
		JobID: job.ID, Status: job.Status, Total: job.Total, Processed: job.Processed, Succeeded: job.Succeeded, Failed: job.Failed,
		CreatedAt: job.CreatedAt, CompletedAt: job.CompletedAt, Results: items,
	}
	if p.Results == nil {
		p.Results = []Item{}
	}
	end := job.Total
	if job.Status == Failed {
		end = job.Processed
	}
	if next := from + len(items); next < end {
		cursor := core.EncodeCursor(filter, fmt.Sprint(next))
		p.NextCursor = &cursor
	}
	return p, nil
}
