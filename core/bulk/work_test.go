package bulk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestBulkRowsFollowTheUpsert(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		items := b.WriteRows(t,
			`{"email":"Ada@example.com","external_id":"1","attributes":{"age":"36","city":"Rome"},"lists":["beta"],"topic_preferences":{"news":"OPT_OUT"},"unsubscribe_all":true}`,
			`{"external_id":"1","attributes":{"age":null},"unsubscribe_all":null,"lists":null}`,
			`{"external_id":"1","email":"ada@new.example","lists":[],"unsubscribe_all":false}`,
			`{"email":"bob@example.com"}`,
			`{"email":"Ada@example.com","external_id":"2"}`,
			`{"external_id":"1","email":"bob@example.com"}`,
			`{"external_id":"3","email":"ada@new.example"}`,
			`{"external_id":"3","email":"ada@new.example","rebind_external_id":true}`,
			`{"external_id":"1","email":"carl@example.com"}`,
			`{"external_id":"9"}`,
		)
		want := []string{
			"created", "updated", "updated", "created", "created",
			"contact_email_taken", "contact_external_id_mismatch", "updated", "created", "unknown_external_id",
		}
		var got []string
		for _, item := range items {
			word := item["status"].(string)
			if word == "failed" {
				word = item["reason"].(string)
			}
			got = append(got, word)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		ada := b.Want(t, "contacts_lookup", `{"email":"ada@new.example"}`)
		if ada["external_id"] != "3" || ada["unsubscribe_all"] != false || len(contactstest.ListKeys(ada)) != 0 ||
			!cmp.Equal(ada["attributes"], any(map[string]any{"city": "Rome"})) || !cmp.Equal(contactstest.Choices(ada), map[string]any{"news": "OPT_OUT"}) {
			t.Errorf("ada is %v", ada)
		}
		if at, there := b.AccountContact(t, "ada@new.example"); !there || at.UnsubscribeAll || at.Preferences["news"] != "OPT_OUT" {
			t.Errorf("at the account: %+v %t", at, there)
		}
		log, err := db.ListMembers().MembershipLog(t.Context(), b.Org.ID, nil, 10)
		if err != nil || len(log) != 0 {
			t.Errorf("log of what was undone in the same chunk: %+v %v", log, err)
		}
	})
}

func TestHostileRowsFailAlone(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		rows := []string{
			`5`, `null`, `[]`, `"x"`, `{}`, `{"email":5}`, `{"email":"no address"}`, `{"email":""}`,
			`{"external_id":""}`, `{"email":"a@b.example","external_id":[]}`, `{"email":"a@b.example","surprise":1}`,
			`{"email":"a@b.example","attributes":{"plan":"gold"}}`, `{"email":"a@b.example","attributes":{"nobody":1}}`,
			`{"email":"a@b.example","attributes":7}`, `{"email":"a@b.example","lists":["nobody"]}`, `{"email":"a@b.example","lists":{"add":[]}}`,
			`{"email":"a@b.example","topic_preferences":{"nobody":"OPT_IN"}}`, `{"email":"a@b.example","topic_preferences":{"news":"maybe"}}`,
			`{"email":"a@b.example","topic_preferences":[{"topic":"news","subscription_status":"OPT_IN"},{"topic":"news","subscription_status":"OPT_OUT"}]}`,
			`{"email":"a@b.example","topic_preferences":[5]}`, `{"email":"a@b.example","unsubscribe_all":"no"}`,
			`{"email":"a@b.example","attributes":{"plan":{"deep":[1,2]}}}`, `{"email":"a@b.example","email":"c@b.example"}`,
			`{"email":"x@b.example","attributes":{"city":"; DROP TABLE contacts; --"},"external_id":"'\"\\ \u2028"}`,
		}
		items := b.WriteRows(t, rows...)
		for i, item := range items[:len(rows)-1] {
			if item["status"] != "failed" || item["reason"] == "" || len(item["errors"].([]any)) == 0 || item["index"] != float64(i) {
				t.Errorf("%s: %v", rows[i], item)
			}
		}
		if last := items[len(rows)-1]; last["status"] != "created" {
			t.Errorf("the last: %v", last)
		}
		for _, whole := range []string{`{}`, `{"contacts":[]}`, `{"contacts":{}}`, `{"contacts":[{}],"more":1}`} {
			b.Refuse(t, "contacts_bulk", whole, core.CodeValidationFailed)
		}
		b.Refuse(t, "contacts_bulk_get", `{"job_id":"`+core.NewID()+`"}`, core.CodeNotFound)
		b.Refuse(t, "contacts_bulk_get", `{"job_id":"nobody"}`, core.CodeNotFound)
	})
}

// TestNamesChangeHandsInOneChunk checks that addresses and external ids can move between
// contacts within one bulk write, although the database checks their uniqueness after each
// contact.
func TestNamesChangeHandsInOneChunk(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.WriteRows(t, `{"email":"a@x.example","external_id":"a"}`, `{"email":"b@x.example","external_id":"b"}`)
		items := b.WriteRows(t,
			`{"external_id":"a","email":"free@x.example"}`,
			`{"external_id":"b","email":"a@x.example"}`,
			`{"external_id":"a","email":"b@x.example"}`,
			`{"email":"a@x.example","external_id":"c","rebind_external_id":true}`,
			`{"email":"b@x.example","external_id":"b","rebind_external_id":true}`,
			`{"email":"new@x.example","external_id":"a"}`,
		)
		for i, want := range []string{"updated", "updated", "updated", "updated", "updated", "created"} {
			if items[i]["status"] != want {
				t.Errorf("row %d: %v", i, items[i])
			}
		}
		for email, id := range map[string]string{"a@x.example": "c", "b@x.example": "b", "new@x.example": "a"} {
			if c := b.Want(t, "contacts_lookup", `{"email":"`+email+`"}`); c["external_id"] != id {
				t.Errorf("%s has %v, want %s", email, c["external_id"], id)
			}
			if _, there := b.AccountContact(t, email); !there {
				t.Errorf("%s is not at the account", email)
			}
		}
		if _, there := b.AccountContact(t, "free@x.example"); there {
			t.Error("an address that was left again is at the account")
		}
	})
}

// TestBulkGoesOnAfterAnEnd checks that an interrupted bulk write continues where it
// stopped, and processes no row twice.
func TestBulkGoesOnAfterAnEnd(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var rows []string
		for i := range 2500 {
			rows = append(rows, fmt.Sprintf(`{"email":"p%d@x.example","external_id":"%d"}`, i, i))
		}
		id := b.AcceptRows(t, rows...)
		ctx, cancel := context.WithCancel(t.Context())
		b.setOnChange(cancel)
		if err := b.Bulk.BulkWorker().Work(ctx, bulk.Args{OrgID: b.Org.ID, JobID: id}); err == nil {
			t.Fatal("it was cut off and says nothing")
		}
		b.setOnChange(nil)
		first := b.Want(t, "contacts_bulk_get", `{"job_id":"`+id+`","limit":1}`)
		if first["processed"] != 0.0 || len(first["results"].([]any)) != 0 || first["next_cursor"] == nil {
			t.Fatalf("after the first end: %v", first)
		}
		// The context is cancelled in the transaction of the second chunk, so that only the
		// first chunk is stored.
		ctx, cancel = context.WithCancel(t.Context())
		calls := 0
		b.setOnChange(func() {
			if calls++; calls == 2 {
				cancel()
			}
		})
		_ = b.Bulk.BulkWorker().Work(ctx, bulk.Args{OrgID: b.Org.ID, JobID: id})
		b.setOnChange(nil)
		middle := b.Want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
		if middle["status"] != "processing" || middle["processed"] != 1000.0 || middle["succeeded"] != 1000.0 || middle["completed_at"] != nil {
			t.Fatalf("in the middle: %v", middle)
		}
		again := bulk.New(b.Bulk.Config)
		if err := again.BulkWorker().Work(t.Context(), bulk.Args{}); err != nil {
			t.Fatal(err)
		}
		seen := map[any]bool{}
		for i, item := range b.Outcomes(t, id) {
			if item["status"] != "created" || item["index"] != float64(i) || seen[item["contact_id"]] {
				t.Fatalf("row %d: %v", i, item)
			}
			seen[item["contact_id"]] = true
		}
	})
}

// setOnChange makes bulk writes call f inside the transaction of each write of contacts.
func (b bundle) setOnChange(f func()) {
	b.Bulk.OnChange = func(ctx context.Context, org string, ids []string) error {
		if f != nil {
			f()
		}
		return b.NoteChanged(ctx, org, ids)
	}
}
