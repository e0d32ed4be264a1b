package topics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSyncRepairsBothSides checks a sync. It must write contacts that the account has lost
// to the account again, with their stored consent. It must store contacts that only the
// account has. The next sync must neither write contacts to the account nor create any.
func TestSyncRepairsBothSides(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		w.Want(t, "contacts_create", `{"email":"Lost@example.com","unsubscribe_all":true,"topic_preferences":{"news":"OPT_OUT","offers":"OPT_IN"}}`)
		w.Want(t, "contacts_create", `{"email":"kept@example.com"}`)
		w.Want(t, "contacts_create", `{"email":"left@example.com"}`)
		w.Want(t, "contacts_archive", `{"email":"left@example.com"}`)
		for _, email := range []string{"shell@example.com", "stranger@example.com"} {
			if err := w.Account.PutContact(t.Context(), w.Org.ID, sending.Contact{Email: email}); err != nil {
				t.Fatal(err)
			}
			if email == "shell@example.com" {
				w.SyncLater(t)
			}
		}
		for _, email := range []string{"lost@example.com", "shell@example.com"} {
			if err := w.Account.DeleteContact(t.Context(), w.Org.ID, email); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Account.ChangeTopics(t.Context(), w.Org.ID, func([]sending.Topic) ([]sending.Topic, error) {
			return []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		w.TakeChanged()
		want := topics.SyncReport{Topics: 1, Pages: 1, Mirrored: topics.Mirrored{Created: 1, Unchanged: 1}, Pushed: 1}
		if diff := cmp.Diff(want, w.SyncLater(t)); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
		if notified := w.TakeChanged(); len(notified) != 1 {
			t.Errorf("told of %v", notified)
		}
		back, there := w.AccountContact(t, "lost@example.com")
		if !there || back.Email != "Lost@example.com" || !back.UnsubscribeAll || !cmp.Equal(back.Preferences, map[string]sending.Subscription{"news": sending.OptOut}) {
			t.Errorf("what was lost came back as %+v, %t", back, there)
		}
		for _, email := range []string{"left@example.com", "shell@example.com"} {
			if _, there := w.AccountContact(t, email); there {
				t.Errorf("%s was pushed", email)
			}
		}
		if again := w.SyncLater(t); again.Pushed+again.Created != 0 {
			t.Errorf("the next sync did %+v", again)
		}
	})
}

// TestRepairsAreBounded checks that one sync writes back at most 500 contacts that are
// missing at the sending account. The limit also applies if the account refuses a contact.
// The next sync must write the remaining contacts.
func TestRepairsAreBounded(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	const lost, most = 503, 500
	store, odd := w.DB.Contacts(), 0
	for i := range lost {
		c := contacts.Contact{ID: core.NewID(), Email: core.NewID() + "@example.com", Status: contacts.Active, CreatedAt: w.Clock(), UpdatedAt: w.Clock()}
		if i == 7 {
			c.Email, odd = "no address", 1
		}
		if err := store.InsertContact(t.Context(), w.Org.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.SyncLater(t); got.Pushed != most-odd || got.Refused != odd || got.Left != lost-most {
		t.Errorf("first %+v", got)
	}
	if got := w.SyncLater(t); got.Pushed != lost-most || got.Refused != odd || got.Left != 0 {
		t.Errorf("then %+v", got)
	}
}

// TestARefusedRepairDoesNotBlockTheNext leaves notes of two interrupted writes, and lets
// the account refuse the contact of the first one. The second must be repaired at once, and
// the first later. A failure of the whole account must end the repair.
func TestARefusedRepairDoesNotBlockTheNext(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		emails := []string{"first@example.com", "second@example.com"}
		for _, email := range emails {
			made := w.Want(t, "contacts_create", fmt.Sprintf(`{"email":%q}`, email))
			note := topics.AccountNote{ID: core.NewID(), ContactID: made["id"].(string), NotedAt: w.Clock()}
			if err := db.AccountNotes().NoteAccount(t.Context(), w.Org.ID, note); err != nil {
				t.Fatal(err)
			}
			if err := w.Account.DeleteContact(t.Context(), w.Org.ID, email); err != nil {
				t.Fatal(err)
			}
			w.Advance(time.Second)
		}
		w.Advance(time.Hour)
		for _, step := range []struct {
			fault    simulator.Fault
			repaired int
			fails    bool
			listed   []string
		}{
			{simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.Throttled, Times: 1}, 0, true, nil},
			{simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.Full, Times: 1}, 1, false, emails[1:]},
			{simulator.Fault{Method: simulator.MethodSend, Kind: sending.Full}, 1, false, emails},
		} {
			w.Account.Faults().Set(step.fault)
			n, err := w.Sync.Repair(t.Context(), w.Org.ID)
			if n != step.repaired || (err != nil) != step.fails {
				t.Errorf("with %s: %d repaired, %v", step.fault.Kind, n, err)
			}
			var listed []string
			for _, email := range emails {
				if _, is := w.AccountContact(t, email); is {
					listed = append(listed, email)
				}
			}
			if diff := cmp.Diff(step.listed, listed); diff != "" {
				t.Errorf("with %s, at the account (-want +got):\n%s", step.fault.Kind, diff)
			}
		}
	})
}

// TestARefusedContactDoesNotBlockTheSync lets the account refuse to add one of two contacts
// that it lost. The other one must be written at once, and the refused one by the next sync.
func TestARefusedContactDoesNotBlockTheSync(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	for _, email := range []string{"first@example.com", "second@example.com"} {
		w.Want(t, "contacts_create", fmt.Sprintf(`{"email":%q}`, email))
		if err := w.Account.DeleteContact(t.Context(), w.Org.ID, email); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(time.Second)
	w.Account.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.Rejected, Times: 1})
	if got := w.SyncLater(t); got.Pushed != 1 || got.Refused != 1 {
		t.Errorf("first %+v", got)
	}
	if got := w.SyncLater(t); got.Pushed != 1 || got.Refused != 0 {
		t.Errorf("then %+v", got)
	}
}

func TestTopicWritesGoThrough(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		w.Refuse(t, "contact_list_get", `{}`, core.CodeContactListNotSynced)
		w.Want(t, "topics_list", `{}`) // this call caches the account's topics for a minute or until the next write
		made := w.Want(t, "topics_create", `{"name":"Tips_1","default_subscription_status":"OPT_OUT"}`)
		if made["display_name"] != "Tips_1" || made["origin"] != "managed" || made["status"] != "active" {
			t.Errorf("made %v", made)
		}
		w.Want(t, "contacts_create", `{"email":"ada@example.com","topic_preferences":{"Tips_1":"OPT_IN"}}`)
		changed := w.Want(t, "topics_update", `{"name":"Tips_1","description":"Tips","default_subscription_status":"OPT_IN"}`)
		if changed["display_name"] != "Tips_1" || changed["description"] != "Tips" || changed["default_subscription_status"] != "OPT_IN" {
			t.Errorf("changed %v", changed)
		}
		w.SyncLater(t)
		if list := w.Want(t, "contact_list_get", `{}`); list["topic_count"] != 3.0 || list["contact_count"] != 1.0 || list["name"] != "main" || list["last_synced_at"] == nil {
			t.Errorf("list %v", list)
		}
		w.Want(t, "topics_delete", `{"name":"Tips_1"}`)
		if c := w.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); len(c["topic_preferences"].([]any)) != 0 {
			t.Errorf("still chose %v", c)
		}
		if all := w.Want(t, "topics_list", `{}`)["data"].([]any); len(all) != 2 {
			t.Errorf("topics %v", all)
		}
		w.Refuse(t, "topics_create", `{"name":"news","default_subscription_status":"OPT_IN"}`, core.CodeConflict)
		w.Refuse(t, "topics_create", `{"name":"a b","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
		w.Refuse(t, "topics_create", `{"name":"a"}`, core.CodeValidationFailed)
		w.Refuse(t, "topics_update", `{"name":"gone"}`, core.CodeNotFound)
		w.Refuse(t, "topics_delete", `{"name":"gone"}`, core.CodeNotFound)
		w.Account.Faults().Set(simulator.Fault{Method: simulator.MethodChangeTopics, Kind: sending.Invalid, Times: 1})
		w.Refuse(t, "topics_create", `{"name":"full","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
		w.Account.Faults().Set(simulator.Fault{Method: simulator.MethodChangeTopics, Kind: sending.Refused, Times: 1})
		w.Refuse(t, "topics_create", `{"name":"away","default_subscription_status":"OPT_IN"}`, core.CodeUpstreamUnavailable)
		if _, err := w.DB.Topics().Topics(t.Context(), w.Org.ID); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFiftyTopics(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	for i := range 48 {
		w.Want(t, "topics_create", `{"name":"t`+string(rune('A'+i%26))+string(rune('a'+i/26))+`","default_subscription_status":"OPT_IN"}`)
	}
	w.Refuse(t, "topics_create", `{"name":"one_more","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
	if all := w.Want(t, "topics_list", `{}`)["data"].([]any); len(all) != 50 {
		t.Errorf("%d topics", len(all))
	}
}

// TestAccountThatTakesNoList checks an account in which Mailhelm may not create a contact
// list. Single writes are refused, with the command that creates a list. The consent of
// bulk writes must be written to the account later, once Mailhelm may create a list.
func TestAccountThatTakesNoList(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	w.Org.ID = core.NewID()
	w.Org.Slug = "bare"
	if err := w.DB.Orgs().InsertOrg(t.Context(), w.Org); err != nil {
		t.Fatal(err)
	}
	if err := w.Account.Seed(t.Context(), w.Org.ID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	w.Account.Faults().Set(simulator.Fault{Method: simulator.MethodEnsureContactList, Kind: sending.Unsupported})
	for name, arguments := range map[string]string{
		"contacts_create": `{"email":"a@x.example"}`, "topics_create": `{"name":"n","default_subscription_status":"OPT_IN"}`,
	} {
		if refusal := w.Refusal(t, name, arguments, core.CodeConflict); !strings.Contains(refusal.Next, "aws sesv2 create-contact-list") {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	if items := w.FinishRows(t, w.AcceptRows(t, `{"email":"a@x.example"}`)); items[0]["status"] != "created" {
		t.Fatal(items)
	}
	report, err := w.Pushes.Push(t.Context(), w.Org.ID)
	if err != nil || report.PutOff == 0 || report.Refused != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	w.Account.Faults().Clear()
	w.Advance(time.Hour)
	if report, err := w.Pushes.Push(t.Context(), w.Org.ID); err != nil || report.Settled != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestChangedTopicsCallOnRedefine checks that OnRedefine is called for topics that an
// operation changed, and for topics that were changed at the account.
func TestChangedTopicsCallOnRedefine(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	var notified []topics.Redefinition
	w.Topics.OnRedefine = func(_ context.Context, _ string, what topics.Redefinition) error {
		notified = append(notified, what)
		return nil
	}
	w.SyncLater(t) // the mirror learns the topics
	for _, step := range []struct {
		name, arguments string
		want            []topics.Redefinition
	}{
		{"topics_create", `{"name":"tips","default_subscription_status":"OPT_IN"}`, nil},
		{"topics_update", `{"name":"tips","description":"Weekly"}`, nil},
		{"topics_update", `{"name":"tips","default_subscription_status":"OPT_IN"}`, nil},
		{"topics_update", `{"name":"tips","default_subscription_status":"OPT_OUT"}`, []topics.Redefinition{{Turned: []string{"tips"}}}},
		{"topics_delete", `{"name":"tips"}`, []topics.Redefinition{{Gone: []string{"tips"}}}},
	} {
		notified = nil
		w.Want(t, step.name, step.arguments)
		if diff := cmp.Diff(step.want, notified); diff != "" {
			t.Errorf("%s %s (-want +told):\n%s", step.name, step.arguments, diff)
		}
	}
	notified = nil
	w.SyncLater(t)
	err := w.Account.ChangeTopics(t.Context(), w.Org.ID, func([]sending.Topic) ([]sending.Topic, error) {
		return []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptOut}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.SyncLater(t)
	w.SyncLater(t)
	if diff := cmp.Diff([]topics.Redefinition{{Gone: []string{"offers"}, Turned: []string{"news"}}}, notified); diff != "" {
		t.Errorf("by syncs (-want +told):\n%s", diff)
	}
}
