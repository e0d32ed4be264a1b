package audience_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bulk writes rows in bulk, pushes their consent to the account, and returns the
// outcomes.
func (b *bundle) bulk(t *testing.T, rows ...string) []map[string]any {
	t.Helper()
	items := b.accepted(t, b.accept(t, rows...))
	if _, err := b.audience.Push(t.Context(), b.org.ID); err != nil {
		t.Fatal(err)
	}
	return items
}

// accept starts a bulk write and returns the id of the job.
func (b *bundle) accept(t *testing.T, rows ...string) string {
	t.Helper()
	var raw []json.RawMessage
	for _, row := range rows {
		raw = append(raw, json.RawMessage(row))
	}
	arguments, err := json.Marshal(map[string]any{"contacts": raw})
	if err != nil {
		t.Fatal(err)
	}
	taken := b.want(t, "contacts_bulk", string(arguments))
	if taken["status"] != "queued" {
		t.Fatalf("taken as %v", taken)
	}
	return taken["job_id"].(string)
}

// accepted processes the open jobs and returns the outcomes of one of them.
func (b *bundle) accepted(t *testing.T, id string) []map[string]any {
	t.Helper()
	if err := b.audience.BulkWorker().Work(t.Context(), audience.BulkArgs{}); err != nil {
		t.Fatal(err)
	}
	return b.outcomes(t, id)
}

// outcomes returns all outcomes of a completed job, read page by page.
func (b *bundle) outcomes(t *testing.T, id string) []map[string]any {
	t.Helper()
	var items []map[string]any
	for cursor := ""; ; {
		page := b.want(t, "contacts_bulk_get", fmt.Sprintf(`{"job_id":%q,"limit":200,"cursor":%q}`, id, cursor))
		if page["status"] != "completed" || page["completed_at"] == nil {
			t.Fatalf("not completed: %v", page)
		}
		for _, item := range page["results"].([]any) {
			items = append(items, item.(map[string]any))
		}
		next, more := page["next_cursor"].(string)
		if !more {
			if page["total"] != float64(len(items)) || page["processed"] != page["total"] {
				t.Errorf("%d outcomes of %v", len(items), page["total"])
			}
			return items
		}
		cursor = next
	}
}

func TestBulkRowsFollowTheUpsert(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.synced(t)
		items := b.bulk(t,
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
		ada := b.want(t, "contacts_lookup", `{"email":"ada@new.example"}`)
		if ada["external_id"] != "3" || ada["unsubscribe_all"] != false || len(keys(ada)) != 0 ||
			!cmp.Equal(ada["attributes"], any(map[string]any{"city": "Rome"})) || !cmp.Equal(choices(ada), map[string]any{"news": "OPT_OUT"}) {
			t.Errorf("ada is %v", ada)
		}
		if at, there := b.atAccount(t, "ada@new.example"); !there || at.UnsubscribeAll || at.Preferences["news"] != "OPT_OUT" {
			t.Errorf("at the account: %+v %t", at, there)
		}
		log, err := db.Lists().MembershipLog(t.Context(), b.org.ID, nil, 10)
		if err != nil || len(log) != 0 {
			t.Errorf("log of what was undone in the same chunk: %+v %v", log, err)
		}
	})
}

// synced copies the topics of the account into the mirror, which bulk writes read.
func (b *bundle) synced(t *testing.T) {
	t.Helper()
	if _, err := b.sync.Run(t.Context(), b.org.ID); err != nil {
		t.Fatal(err)
	}
}

func TestHostileRowsFailAlone(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.synced(t)
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
		items := b.bulk(t, rows...)
		for i, item := range items[:len(rows)-1] {
			if item["status"] != "failed" || item["reason"] == "" || len(item["errors"].([]any)) == 0 || item["index"] != float64(i) {
				t.Errorf("%s: %v", rows[i], item)
			}
		}
		if last := items[len(rows)-1]; last["status"] != "created" {
			t.Errorf("the last: %v", last)
		}
		for _, whole := range []string{`{}`, `{"contacts":[]}`, `{"contacts":{}}`, `{"contacts":[{}],"more":1}`} {
			b.refuse(t, "contacts_bulk", whole, core.CodeValidationFailed)
		}
		b.refuse(t, "contacts_bulk_get", `{"job_id":"`+core.NewID()+`"}`, core.CodeNotFound)
		b.refuse(t, "contacts_bulk_get", `{"job_id":"nobody"}`, core.CodeNotFound)
	})
}

// Names move between contacts within one bulk write, in the order of the rows, although
// the database checks them one contact at a time.
func TestNamesChangeHandsInOneChunk(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.bulk(t, `{"email":"a@x.example","external_id":"a"}`, `{"email":"b@x.example","external_id":"b"}`)
		items := b.bulk(t,
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
			if c := b.want(t, "contacts_lookup", `{"email":"`+email+`"}`); c["external_id"] != id {
				t.Errorf("%s has %v, want %s", email, c["external_id"], id)
			}
			if _, there := b.atAccount(t, email); !there {
				t.Errorf("%s is not at the account", email)
			}
		}
		if _, there := b.atAccount(t, "free@x.example"); there {
			t.Error("an address that was left again is at the account")
		}
	})
}

// An interrupted bulk write resumes where it stopped and processes no row twice.
func TestBulkGoesOnAfterAnEnd(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var rows []string
		for i := range 2500 {
			rows = append(rows, fmt.Sprintf(`{"email":"p%d@x.example","external_id":"%d"}`, i, i))
		}
		id := b.accept(t, rows...)
		ctx, cancel := context.WithCancel(t.Context())
		b.onChanged(cancel)
		if err := b.audience.BulkWorker().Work(ctx, audience.BulkArgs{OrgID: b.org.ID, JobID: id}); err == nil {
			t.Fatal("it was cut off and says nothing")
		}
		b.onChanged(nil)
		first := b.want(t, "contacts_bulk_get", `{"job_id":"`+id+`","limit":1}`)
		if first["processed"] != 0.0 || len(first["results"].([]any)) != 0 || first["next_cursor"] == nil {
			t.Fatalf("after the first end: %v", first)
		}
		// This runs between the second chunk and the third.
		ctx, cancel = context.WithCancel(t.Context())
		calls := 0
		b.onChanged(func() {
			if calls++; calls == 2 {
				cancel()
			}
		})
		_ = b.audience.BulkWorker().Work(ctx, audience.BulkArgs{OrgID: b.org.ID, JobID: id})
		b.onChanged(nil)
		middle := b.want(t, "contacts_bulk_get", `{"job_id":"`+id+`"}`)
		if middle["status"] != "processing" || middle["processed"] != 1000.0 || middle["succeeded"] != 1000.0 || middle["completed_at"] != nil {
			t.Fatalf("in the middle: %v", middle)
		}
		again := audience.New(b.audience.Config)
		if err := again.BulkWorker().Work(t.Context(), audience.BulkArgs{}); err != nil {
			t.Fatal(err)
		}
		seen := map[any]bool{}
		for i, item := range b.outcomes(t, id) {
			if item["status"] != "created" || item["index"] != float64(i) || seen[item["contact_id"]] {
				t.Fatalf("row %d: %v", i, item)
			}
			seen[item["contact_id"]] = true
		}
	})
}

// onChanged makes the audience call f inside the transaction whenever contacts are
// written.
func (b *bundle) onChanged(f func()) {
	b.audience.Changed = func(ctx context.Context, org string, ids []string) error {
		if f != nil {
			f()
		}
		return b.noteChanged(ctx, org, ids)
	}
}
