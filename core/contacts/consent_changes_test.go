package contacts_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestConsentChangesAreRecorded checks, for every way in which consent changes, since when
// and by whom each choice is recorded to be as it is. The clock advances by an hour before
// each step, so that "3 key-2/" means: in the third hour, by the credential key-2.
func TestConsentChangesAreRecorded(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		start := b.Clock()
		b.SyncNow(t)
		call := func(credential, operation, arguments string) func() {
			return func() {
				b.Credential.ID = credential
				b.Want(t, operation, arguments)
			}
		}
		bulk := func(row string) func() {
			return func() {
				b.Credential.ID = "key-3"
				b.FinishRows(t, b.AcceptRows(t, row))
			}
		}
		account := func(all bool, news, offers sending.Subscription) func() {
			return func() {
				b.PutAtAccount(t, sending.Contact{Email: "ada@x.example", UnsubscribeAll: all, Preferences: map[string]sending.Subscription{"news": news, "offers": offers}})
			}
		}
		push := func() {
			if _, err := b.Pushes.Push(t.Context(), b.Org.ID); err != nil {
				t.Fatal(err)
			}
		}
		imported := func() {
			row := json.RawMessage(`{"email":"ada@x.example","topic_preferences":{"news":"OPT_OUT","offers":"OPT_IN"}}`)
			if _, err := b.Bulk.Import(t.Context(), b.Org.ID, consent.ByImport("user"), core.NewID(), []json.RawMessage{row}); err != nil {
				t.Fatal(err)
			}
		}
		const ada = `"email":"ada@x.example"`
		for hour, step := range []struct {
			name string
			do   func()
			want map[string]string
		}{
			{"create", call("key-1", "contacts_create", `{`+ada+`,"topic_preferences":{"news":"OPT_IN"}}`), map[string]string{"news": "0 key-1/"}},
			{"same choice again", call("key-2", "contacts_update", `{`+ada+`,"attributes":{"age":1},"topic_preferences":{"news":"OPT_IN"}}`), map[string]string{"news": "0 key-1/"}},
			{"other choices", call("key-2", "contacts_update", `{`+ada+`,"unsubscribe_all":true,"topic_preferences":{"offers":"OPT_OUT"}}`), map[string]string{"all": "2 key-2/", "news": "0 key-1/", "offers": "2 key-2/"}},
			{"at the account", account(true, sending.OptOut, sending.OptOut), map[string]string{"all": "2 key-2/", "news": "0 key-1/", "offers": "2 key-2/"}},
			{"sync", func() { b.SyncNow(t) }, map[string]string{"all": "2 key-2/", "news": "3 account", "offers": "2 key-2/"}},
			{"at the account, not synced", account(false, sending.OptOut, sending.OptOut), map[string]string{"all": "2 key-2/", "news": "3 account", "offers": "2 key-2/"}},
			{"write of something else", call("key-1", "contacts_upsert", `{`+ada+`,"attributes":{"age":2}}`), map[string]string{"all": "5 account", "news": "3 account", "offers": "2 key-2/"}},
			{"bulk row", bulk(`{` + ada + `,"topic_preferences":{"offers":"OPT_IN"}}`), map[string]string{"all": "5 account", "news": "3 account", "offers": "7 key-3/"}},
			{"later at the account", account(false, sending.OptIn, sending.OptOut), map[string]string{"all": "5 account", "news": "3 account", "offers": "7 key-3/"}},
			{"push finds the later opt-out", push, map[string]string{"all": "5 account", "news": "8 account", "offers": "8 account"}},
			{"replace", call("key-1", "contacts_replace", `{`+ada+`,"topic_preferences":{"news":"OPT_IN"}}`), map[string]string{"all": "5 account", "news": "8 account"}},
			{"import", imported, map[string]string{"all": "5 account", "news": "11 import/user", "offers": "11 import/user"}},
			{"push", push, map[string]string{"all": "5 account", "news": "11 import/user", "offers": "11 import/user"}},
			{"before the archiving", account(true, sending.OptOut, sending.OptIn), map[string]string{"all": "5 account", "news": "11 import/user", "offers": "11 import/user"}},
			{"archive", call("key-1", "contacts_archive", `{`+ada+`}`), map[string]string{"all": "13 account", "news": "11 import/user", "offers": "11 import/user"}},
			{"activate", call("key-2", "contacts_create", `{`+ada+`,"unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN"}}`), map[string]string{"all": "15 key-2/", "news": "15 key-2/"}},
		} {
			step.do()
			if diff := cmp.Diff(step.want, changesOf(t, db, b.Org.ID, "ada@x.example", start)); diff != "" {
				t.Errorf("hour %d, %s (-want +got):\n%s", hour, step.name, diff)
			}
			b.Advance(time.Hour)
		}
		b.PutAtAccount(t, sending.Contact{Email: "ben@x.example", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptIn}})
		b.SyncLater(t)
		if diff := cmp.Diff(map[string]string{"all": "16 account", "news": "16 account"}, changesOf(t, db, b.Org.ID, "ben@x.example", start)); diff != "" {
			t.Errorf("found by the sync (-want +got):\n%s", diff)
		}
	})
}

// changesOf returns the recorded changes of a contact's consent: the hour since start, and
// the source.
func changesOf(t *testing.T, db *storage.DB, orgID, email string, start time.Time) map[string]string {
	t.Helper()
	c, err := db.Contacts().ContactByEmail(t.Context(), orgID, email)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]string{}
	note := func(choice string, made consent.Change) {
		changes[choice] = fmt.Sprintf("%d %s", int(made.Time().Sub(start).Hours()), made.By)
	}
	if c.ConsentChanges.UnsubscribeAll != nil {
		note("all", *c.ConsentChanges.UnsubscribeAll)
	}
	for topic, made := range c.ConsentChanges.Topics {
		note(topic, made)
	}
	return changes
}

// TestUnrecordedChangesStayUnrecorded checks that a contact of an earlier version, whose
// changes were not recorded, gets a time only for the choices that change.
func TestUnrecordedChangesStayUnrecorded(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.Want(t, "contacts_create", `{"email":"ada@x.example","topic_preferences":{"news":"OPT_OUT"}}`)
		c, err := db.Contacts().ContactByEmail(t.Context(), b.Org.ID, "ada@x.example")
		if err != nil {
			t.Fatal(err)
		}
		c.ConsentChanges = consent.Changes{}
		if err := db.Contacts().UpdateContact(t.Context(), b.Org.ID, c); err != nil {
			t.Fatal(err)
		}
		b.Credential.ID = "key-1"
		b.Want(t, "contacts_update", `{"email":"ada@x.example","topic_preferences":{"news":"OPT_OUT","offers":"OPT_IN"}}`)
		if diff := cmp.Diff(map[string]string{"offers": "0 key-1/"}, changesOf(t, db, b.Org.ID, "ada@x.example", b.Clock())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
