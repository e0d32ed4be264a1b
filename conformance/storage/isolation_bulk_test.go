package storage_test

import (
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
)

// sameJob is the id of a bulk job in each of the two organizations.
const sameJob = "0190c3a0-0000-7000-8000-000000000001"

func (o ownedObjects) ownBulk(t *testing.T, db *storage.DB) {
	t.Helper()
	store := bulkstore.NewJobStore(db.DB)
	job := bulk.Job{ID: sameJob, Status: bulk.Queued, Total: 1, CreatedAt: start}
	must(t, store.InsertBulkJob(t.Context(), o.org, job, []bulk.Chunk{{Rows: []json.RawMessage{json.RawMessage(`{"of":"` + o.org + `"}`)}}}))
	must(t, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), o.org, bulk.ContactsWrite{At: start, Push: map[string]consent.Pending{o.contact.ID: {OldEmails: []string{o.org}}}}))
	must(t, db.AccountNotes().NoteAccount(t.Context(), o.org, topics.AccountNote{ID: sameJob, ContactID: o.contact.ID, Put: "put@x", NotedAt: start}))
}

func (o ownedObjects) bulkState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), bulkstore.NewJobStore(db.DB)
	job, err := store.BulkJob(ctx, o.org, sameJob)
	must(t, err)
	chunk, err := store.BulkChunk(ctx, o.org, sameJob, 0)
	must(t, err)
	items, err := store.BulkItems(ctx, o.org, sameJob, 0, 10)
	must(t, err)
	open, err := store.OpenBulkJobs(ctx, o.org)
	must(t, err)
	pending, err := db.Contacts().PendingPush(ctx, o.org, o.contact.ID)
	must(t, err)
	notes, err := db.TopicSync().AccountNotes(ctx, o.org, later(9), 10)
	must(t, err)
	return append(o.consentState(t, db), job, chunk, items, open, pending, notes)
}

func bulkCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"BulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewJobStore(db.DB).BulkJob(t.Context(), org, sameJob)
		},
		"InsertBulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewJobStore(db.DB).InsertBulkJob(t.Context(), org, bulk.Job{ID: sameJob, CreatedAt: start}, nil)
		},
		"UpdateBulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewJobStore(db.DB).UpdateBulkJob(t.Context(), org, bulk.Job{ID: sameJob, Status: bulk.Failed, CompletedAt: new(later(1))})
		},
		"OpenBulkJobs": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewJobStore(db.DB).OpenBulkJobs(t.Context(), org)
		},
		"DeleteBulkJobs": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewJobStore(db.DB).DeleteBulkJobs(t.Context(), org, later(9), 10)
		},
		"BulkChunk": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewJobStore(db.DB).BulkChunk(t.Context(), org, sameJob, 0)
		},
		"FinishBulkChunk": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewJobStore(db.DB).FinishBulkChunk(t.Context(), org, sameJob, 0, []bulk.Item{{Index: 0}})
		},
		"BulkItems": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewJobStore(db.DB).BulkItems(t.Context(), org, sameJob, 0, 10)
		},
		"ContactsByKeys": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewContactStore(db.DB).ContactsByKeys(t.Context(), org, []string{o.contact.Email}, []string{*o.contact.ExternalID})
		},
		"WriteContacts update": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), org, bulk.ContactsWrite{At: later(1), Update: []contacts.Contact{o.contact}})
		},
		"WriteContacts drop": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), org, bulk.ContactsWrite{At: later(1), Drop: []string{o.shell.ID}})
		},
		"WriteContacts lists": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), org, bulk.ContactsWrite{At: later(1), Lists: map[string][]string{o.contact.ID: {}}})
		},
		"WriteContacts joins": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), org, bulk.ContactsWrite{At: later(1), Lists: map[string][]string{o.contact.ID: {o.list.ID}}})
		},
		"JoinList": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewContactStore(db.DB).JoinList(t.Context(), org, o.list.ID, []string{o.contact.ID, o.shell.ID}, later(1))
		},
		"NoteAccount": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.AccountNotes().NoteAccount(t.Context(), org, topics.AccountNote{ID: core.NewID(), ContactID: o.contact.ID, NotedAt: start})
		},
		"contacts.NoteStore.DropAccountNote": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.AccountNotes().DropAccountNote(t.Context(), org, sameJob)
		},
		"AccountNotes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.TopicSync().AccountNotes(t.Context(), org, later(9), 10)
		},
		"QueuePush": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewPushStore(db.DB).QueuePush(t.Context(), org, o.contact.ID, consent.Pending{UnsubscribeAll: 1}, later(1))
		},
		"ClaimPushes": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewPushStore(db.DB).ClaimPushes(t.Context(), org, later(9), later(10), 10)
		},
		"SettlePushes": func(t *testing.T, db *storage.DB) (any, error) {
			return bulkstore.NewPushStore(db.DB).SettlePushes(t.Context(), org, start, later(1), []bulk.Push{{Contact: o.contact}})
		},
		"PutOffPushes": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, bulkstore.NewPushStore(db.DB).PutOffPushes(t.Context(), org, start, later(1), []string{o.contact.ID})
		},
		"PendingPush": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Contacts().PendingPush(t.Context(), org, o.contact.ID)
		},
	}
}
