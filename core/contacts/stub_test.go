package contacts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// stub stores a stub: a contact that only an activity has named.
func (b bundle) stub(t *testing.T, email string) activities.Person {
	t.Helper()
	p := activities.Person{ID: core.NewID(), Email: email, EmailKey: email}
	if n, err := b.DB.Activities().InsertStubs(t.Context(), b.Org.ID, []activities.Person{p}, b.Clock()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	return p
}

// TestAStubIsFilled checks that a stub becomes an ordinary contact with the same id when a
// write creates or replaces the contact, or states consent.
func TestAStubIsFilled(t *testing.T) {
	t.Parallel()
	for _, write := range [][2]string{
		{"contacts_create", `"email":"new@x.example"`},
		{"contacts_replace", `"email":"new@x.example"`},
		{"contacts_update", `"email":"new@x.example","unsubscribe_all":false`},
		{"contacts_update", `"email":"new@x.example","topic_preferences":{"news":"OPT_IN"}`},
		{"contacts_upsert_by_external_id", `"external_id":"1","email":"new@x.example","unsubscribe_all":false`},
		{"contacts_upsert", `"email":"new@x.example","topic_preferences":{"news":"OPT_OUT"}`},
		{"contacts_bulk", `"email":"new@x.example","unsubscribe_all":false`},
	} {
		b := setup(t)
		p := b.stub(t, "new@x.example")
		name := write[0]
		b.writeAs(t, name, "{"+write[1]+`,"attributes":{"city":"Oslo"}}`)
		c, err := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID)
		if err != nil || c.Stub || c.Attributes["city"] != "Oslo" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if _, err := b.Account.Contact(t.Context(), b.Org.ID, "new@x.example"); err != nil {
			t.Errorf("%s: the account does not know the address: %v", name, err)
		}
	}
}

// writeAs runs a write and returns its result. It calls contacts_upsert as an agent and
// other operations over REST. For contacts_bulk, the arguments are one row; it waits until
// the row is written and its consent pushed.
func (b bundle) writeAs(t *testing.T, name, arguments string) map[string]any {
	t.Helper()
	if name == "contacts_bulk" {
		b.SyncNow(t)
		return b.WriteRows(t, arguments)[0]
	}
	if b.Surface = core.REST; name == "contacts_upsert" {
		b.Surface = core.Agent
		defer func() { b.Surface = core.REST }()
	}
	return b.Want(t, name, arguments)
}

// TestAttributesAreNoConsent checks that a write that changes parts of a stub without
// stating consent does not end the stub and does not call the sending account. That also
// holds when the stub changes its address, is archived and is reactivated.
func TestAttributesAreNoConsent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		p := b.stub(t, "new@x.example")
		for _, write := range [][2]string{
			{"contacts_update", `{"email":"new@x.example","attributes":{"city":"Oslo"},"topic_preferences":null,"unsubscribe_all":null}`},
			{"contacts_update", `{"email":"new@x.example","lists":{"add":["beta"]},"topic_preferences":{}}`},
			{"contacts_upsert", `{"email":"new@x.example","attributes":{"age":3}}`},
			{"contacts_upsert_by_external_id", `{"external_id":"1","email":"new@x.example"}`},
			{"contacts_upsert_by_external_id", `{"external_id":"1","email":"moved@x.example"}`},
			{"contacts_bulk", `{"external_id":"1","attributes":{"plan":"pro"}}`},
			{"contacts_set_list_membership", `{"contact":"1","remove":["beta"]}`},
			{"contacts_identify", `{"email":"moved@x.example"}`},
			{"contacts_archive", `{"email":"moved@x.example"}`},
			{"contacts_upsert_by_external_id", `{"external_id":"1","attributes":{"age":null}}`},
			{"contacts_archive_by_external_id", `{"external_id":"1"}`},
			{"contacts_bulk", `{"external_id":"1","email":"moved@x.example"}`},
			{"contacts_upsert", `{"external_id":"1","issue_visitor_id":true}`},
		} {
			got := b.writeAs(t, write[0], write[1])
			if shown, is := got["mailable"]; shown != false && (is || write[0] == "contacts_bulk" || write[0] == "contacts_identify") {
				t.Errorf("%s %s: %v", write[0], write[1], got)
			}
			c, err := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID)
			if err != nil || !c.Stub || len(c.TopicPreferences) > 0 {
				t.Errorf("%s %s: %+v, %v", write[0], write[1], c, err)
			}
			for _, address := range []string{"new@x.example", "moved@x.example"} {
				if held, there := b.AccountContact(t, address); there {
					t.Fatalf("%s %s: the account was told %+v", write[0], write[1], held)
				}
			}
		}
		if c, _ := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID); c.Attributes["city"] != "Oslo" || c.Attributes["plan"] != "pro" {
			t.Errorf("%+v", c)
		}
		// The stub gets an address that the sending account already has. The contact is then
		// no longer a stub, and has the account's consent for that address.
		b.Advance(time.Minute)
		b.PutAtAccount(t, sending.Contact{Email: "known@x.example", UnsubscribeAll: true})
		b.SyncLater(t)
		got := b.writeAs(t, "contacts_upsert_by_external_id", `{"external_id":"1","email":"known@x.example"}`)
		if c, _ := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID); c.Stub || got["unsubscribe_all"] != true {
			t.Errorf("%v, %+v", got, c)
		}
	})
}

// TestStubsAndConcurrentWrites checks a write to a stub during which another write ends the
// stub, and a write that creates a contact during which an activity creates a stub with the
// same address. Each time, one contact must have the changes of both calls.
func TestStubsAndConcurrentWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.stub(t, "new@x.example")
	_, err := b.race(t, "contacts_update", `{"email":"new@x.example","attributes":{"city":"Oslo"}}`, func() {
		b.OtherProcess().Want(t, "contacts_update", `{"email":"new@x.example","topic_preferences":{"news":"OPT_OUT"}}`)
	})
	c, found := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID)
	if err != nil || found != nil || c.Stub || c.Attributes["city"] != "Oslo" || len(c.TopicPreferences) != 1 {
		t.Errorf("a stub that ended meanwhile: %v, %+v, %v", err, c, found)
	}
	var later activities.Person
	_, err = b.race(t, "contacts_upsert_by_external_id", `{"external_id":"2","email":"later@x.example"}`, func() { later = b.stub(t, "later@x.example") })
	c, found = b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, later.ID)
	if _, exists := b.AccountContact(t, "later@x.example"); err != nil || found != nil || c.Stub || !exists {
		t.Errorf("a stub that came meanwhile: %v, %+v, %v", err, c, found)
	}
}

func TestAStubIsNotMailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.stub(t, "new@x.example")
	b.Surface = core.Agent
	got := b.Want(t, "contacts_lookup", `{"email":"new@x.example"}`)
	if note, _ := got["mailable_note"].(string); !strings.HasPrefix(note, "Not mailable:") {
		t.Errorf("%+v", got)
	}
	if _, err := b.Account.Contact(t.Context(), b.Org.ID, "new@x.example"); !sending.IsNotFound(err) {
		t.Errorf("the account was told: %v", err)
	}
}

// TestASyncEndsAStub checks that a sync which finds the address of a stub at the sending
// account ends the stub: the contact then counts as created by a sync.
func TestASyncEndsAStub(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.stub(t, "new@x.example")
	b.Advance(time.Second)
	if _, _, err := b.DB.Subscribers().MirrorConsent(t.Context(), b.Org.ID, []sending.Contact{{Email: "new@x.example"}}, b.Clock(), b.Clock()); err != nil {
		t.Fatal(err)
	}
	c, err := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID)
	if err != nil || c.Stub || !c.Shell {
		t.Errorf("%+v, %v", c, err)
	}
	act := activities.Activity{ID: core.NewID(), ContactID: p.ID, Name: "a", OccurredAt: b.Clock(), ReceivedAt: b.Clock(), Source: activities.FromAPI, Properties: []byte("{}")}
	if err := b.DB.Activities().Insert(t.Context(), b.Org.ID, []activities.Activity{act}); err != nil {
		t.Fatal(err)
	}
	if err := b.DB.Contacts().DropShell(t.Context(), b.Org.ID, p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, p.ID); err != nil {
		t.Errorf("a contact with activities was dropped: %v", err)
	}
}
