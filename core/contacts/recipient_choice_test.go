package contacts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// optOutOf returns a choice against the topic, or against all mail if the topic is "".
func optOutOf(topic string) consent.Statement {
	if topic == "" {
		return consent.Statement{UnsubscribeAll: new(true)}
	}
	return consent.Statement{Topics: map[string]sending.Subscription{topic: sending.OptOut}}
}

// TestRecipientChoices checks that the choice of a recipient is stored in the mirror and at
// the sending account, whether or not the account answers at that moment.
func TestRecipientChoices(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, c := range map[string]struct {
			fault  *simulator.Fault
			queued bool
		}{
			"the account answers":       {nil, false},
			"the account refuses":       {&simulator.Fault{Kind: sending.Refused}, true},
			"the account throttles":     {&simulator.Fault{Kind: sending.Throttled, RetryAfter: time.Hour}, true},
			"only the write fails":      {&simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.Refused}, true},
			"only the answer was lost":  {&simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.TimedOut, TookEffect: true}, true},
			"the account has no answer": {&simulator.Fault{Method: simulator.MethodContact, Kind: sending.TimedOut}, true},
		} {
			for _, topic := range []string{"", "news"} {
				t.Run(name+"/"+topic, func(t *testing.T) { checkRecipientChoice(t, setupOn(t, db), topic, c.fault, c.queued) })
			}
		}
	})
}

// checkRecipientChoice opts a contact out twice while the account has the fault, nil for
// none. queued says whether the choice then waits for the job that writes it to the account.
func checkRecipientChoice(t *testing.T, b bundle, topic string, fault *simulator.Fault, queued bool) {
	b.SyncNow(t)
	b.Credential.ID = "key-1"
	id, _ := b.Want(t, "contacts_upsert", `{"email":"ada@x.example","topic_preferences":{"offers":"OPT_IN","news":"OPT_IN"}}`)["id"].(string)
	b.Advance(time.Minute)
	if fault != nil {
		b.Account.Faults().Set(*fault)
	}
	reports := 0
	choice := contacts.RecipientChoice{ContactID: id, Statement: optOutOf(topic), OnStore: func(_ context.Context, before, after contacts.Contact) error {
		reports++
		if isOut(before, topic) != (reports > 1) || !isOut(after, topic) {
			t.Errorf("report %d: before %+v, after %+v", reports, before, after)
		}
		return nil
	}}
	for range 2 {
		if got, err := b.Contacts.RecordChoice(t.Context(), b.DB, b.Org.ID, choice); err != nil || !isOut(got, topic) {
			t.Fatalf("recorded %+v, %v", got, err)
		}
	}
	if stored := b.stored(t, id); reports != 2 || !isOut(stored, topic) || stored.Status != contacts.Active {
		t.Errorf("stored %+v after %d reports", stored, reports)
	}
	b.Account.Faults().Clear()
	b.SyncNow(t) // a sync must not restore the account's earlier choice
	pending, err := b.DB.Contacts().PendingPush(t.Context(), b.Org.ID, id)
	if err != nil || (pending != nil) != queued {
		t.Errorf("pending %+v, %v", pending, err)
	}
	// the account may not have the choice yet, but a lookup shows it
	seen, problem := b.Run(t.Context(), "contacts_lookup", `{"email":"ada@x.example"}`)
	if problem != nil || !isOut(seen.(contacts.FoundContact).Contact, topic) {
		t.Errorf("looked up %+v, %v", seen, problem)
	}
	if _, err := b.Pushes.Push(t.Context(), b.Org.ID); err != nil {
		t.Fatal(err)
	}
	held, _ := b.AccountContact(t, "ada@x.example")
	stored := b.stored(t, id)
	want := map[string]sending.Subscription{"offers": sending.OptIn, "news": sending.OptIn}
	made := stored.ConsentChanges.UnsubscribeAll
	if topic != "" {
		want[topic] = sending.OptOut
		change := stored.ConsentChanges.Topics[topic]
		made = &change
	}
	if !isOut(stored, topic) || held.UnsubscribeAll != (topic == "") || !cmp.Equal(want, held.Preferences) {
		t.Errorf("the account has %+v, the mirror %+v", held, stored)
	}
	if made == nil || made.By != consent.ByRecipient || stored.ConsentChanges.Topics["offers"].By != "key-1/" {
		t.Errorf("changes %+v", stored.ConsentChanges)
	}
}

// TestRecipientChoicesOfArchivedContacts checks that an archived contact stays archived and
// keeps the choice when it is activated, and that the sending account is not called.
func TestRecipientChoicesOfArchivedContacts(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		id, _ := b.Want(t, "contacts_create", `{"email":"ada@x.example"}`)["id"].(string)
		b.Want(t, "contacts_archive", `{"email":"ada@x.example"}`)
		b.Account.Faults().Set(simulator.Fault{Kind: sending.Refused})
		got, err := b.Contacts.RecordChoice(t.Context(), b.DB, b.Org.ID, contacts.RecipientChoice{ContactID: id, Statement: optOutOf("news")})
		if err != nil || got.Status != contacts.Archived || !isOut(b.stored(t, id), "news") {
			t.Errorf("recorded %+v, %v", got, err)
		}
		b.Account.Faults().Clear()
		b.Want(t, "contacts_create", `{"email":"ada@x.example"}`)
		if held, _ := b.AccountContact(t, "ada@x.example"); held.Preferences["news"] != sending.OptOut {
			t.Errorf("the account has %+v", held)
		}
	})
}

// TestRecipientChoicesFail checks the choice of an unknown contact, and that the choice is
// not stored if OnStore fails.
func TestRecipientChoicesFail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Contacts.RecordChoice(t.Context(), b.DB, b.Org.ID, contacts.RecipientChoice{ContactID: core.NewID(), Statement: optOutOf("")})
	if !core.IsNotFound(err) {
		t.Errorf("an unknown contact: %v", err)
	}
	id, _ := b.Want(t, "contacts_create", `{"email":"ada@x.example"}`)["id"].(string)
	failure := errors.New("no room")
	_, err = b.Contacts.RecordChoice(t.Context(), b.DB, b.Org.ID, contacts.RecipientChoice{
		ContactID: id, Statement: optOutOf(""), OnStore: func(context.Context, contacts.Contact, contacts.Contact) error { return failure },
	})
	if !errors.Is(err, failure) || b.stored(t, id).UnsubscribeAll {
		t.Errorf("OnStore failed with %v", err)
	}
	_, err = b.Contacts.RecordChoice(t.Context(), b.DB, contactstest.New(t, b.DB).Org.ID, contacts.RecipientChoice{ContactID: id, Statement: optOutOf("")})
	if !core.IsNotFound(err) || b.stored(t, id).UnsubscribeAll {
		t.Errorf("the contact of another organization: %v", err)
	}
}

// stored returns the contact as the database has it.
func (b bundle) stored(t *testing.T, id string) contacts.Contact {
	t.Helper()
	c, err := b.DB.Contacts().ContactByID(t.Context(), b.Org.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// isOut reports whether the contact opted out of the topic, or of everything for "".
func isOut(c contacts.Contact, topic string) bool {
	consented := contacts.ConsentOf(c)
	return topic == "" && c.UnsubscribeAll || consented.Preferences[topic] == sending.OptOut
}
