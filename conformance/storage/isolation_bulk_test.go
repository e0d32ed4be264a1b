package storage_test

import (
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
)

// sameJob is the id that both organizations' jobs have.
const sameJob = "0190c3a0-0000-7000-8000-000000000001"

func (o owned) ownBulk(t *testing.T, db *storage.DB) {
	t.Helper()
	store := db.Audience()
	job := audience.BulkJob{ID: sameJob, Status: audience.BulkQueued, Total: 1, CreatedAt: start}
	must(t, store.InsertBulkJob(t.Context(), o.org, job, []audience.BulkChunk{{Rows: []json.RawMessage{json.RawMessage(`{"of":"` + o.org + `"}`)}}}))
	must(t, store.WriteContacts(t.Context(), o.org, audience.ContactsWrite{At: start, Push: map[string]audience.Said{o.contact.ID: {Left: []string{o.org}}}}))
	must(t, store.NoteAccount(t.Context(), o.org, topics.AccountNote{ID: sameJob, ContactID: o.contact.ID, Put: "put@x", NotedAt: start}))
}

func (o owned) bulkState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Audience()
	job, err := store.BulkJob(ctx, o.org, sameJob)
	must(t, err)
	chunk, err := store.BulkChunk(ctx, o.org, sameJob, 0)
	must(t, err)
	items, err := store.BulkItems(ctx, o.org, sameJob, 0, 10)
	must(t, err)
	open, err := store.OpenBulkJobs(ctx, o.org)
	must(t, err)
	said, err := store.PendingPush(ctx, o.org, o.contact.ID)
	must(t, err)
	waiting, err := store.CountPushes(ctx, o.org)
	must(t, err)
	notes, err := db.TopicSync().AccountNotes(ctx, o.org, later(9), 10)
	must(t, err)
	return []any{job, chunk, items, open, said, waiting, notes}
}

func reachBulk(o owned, org string) map[string]reach {
	at := later(1)
	return map[string]reach{
		"BulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().BulkJob(t.Context(), org, sameJob)
		},
		"InsertBulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().InsertBulkJob(t.Context(), org, audience.BulkJob{ID: sameJob, CreatedAt: start}, nil)
		},
		"UpdateBulkJob": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().UpdateBulkJob(t.Context(), org, audience.BulkJob{ID: sameJob, Status: audience.BulkFailed, CompletedAt: &at})
		},
		"OpenBulkJobs": func(t *testing.T, db *storage.DB) (any, error) { return db.Audience().OpenBulkJobs(t.Context(), org) },
		"DeleteBulkJobs": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().DeleteBulkJobs(t.Context(), org, later(9), 10)
		},
		"BulkChunk": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().BulkChunk(t.Context(), org, sameJob, 0)
		},
		"FinishBulkChunk": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().FinishBulkChunk(t.Context(), org, sameJob, 0, []audience.BulkItem{{Index: 0}})
		},
		"BulkItems": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().BulkItems(t.Context(), org, sameJob, 0, 10)
		},
		"ContactsNamed": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().ContactsNamed(t.Context(), org, []string{o.contact.Email}, []string{*o.contact.ExternalID})
		},
		"WriteContacts update": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().WriteContacts(t.Context(), org, audience.ContactsWrite{At: at, Update: []audience.Contact{o.contact}})
		},
		"WriteContacts drop": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().WriteContacts(t.Context(), org, audience.ContactsWrite{At: at, Drop: []string{o.shell.ID}})
		},
		"WriteContacts lists": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().WriteContacts(t.Context(), org, audience.ContactsWrite{At: at, Lists: map[string][]string{o.contact.ID: {}}})
		},
		"WriteContacts joins": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().WriteContacts(t.Context(), org, audience.ContactsWrite{At: at, Lists: map[string][]string{o.contact.ID: {o.list.ID}}})
		},
		"NoteAccount": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().NoteAccount(t.Context(), org, topics.AccountNote{ID: core.NewID(), ContactID: o.contact.ID, NotedAt: start})
		},
		"DropAccountNote": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().DropAccountNote(t.Context(), org, sameJob)
		},
		"AccountNotes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.TopicSync().AccountNotes(t.Context(), org, later(9), 10)
		},
		"ClaimPushes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().ClaimPushes(t.Context(), org, later(9), later(10), 10)
		},
		"SettlePushes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().SettlePushes(t.Context(), org, start, at, []audience.Push{{Contact: o.contact}})
		},
		"PutOffPushes": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().PutOffPushes(t.Context(), org, start, at, []string{o.contact.ID})
		},
		"PendingPush": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().PendingPush(t.Context(), org, o.contact.ID)
		},
		"CountPushes": func(t *testing.T, db *storage.DB) (any, error) { return db.Audience().CountPushes(t.Context(), org) },
	}
}
