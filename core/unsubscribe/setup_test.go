package unsubscribe_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/storage"
)

// world is an organization with the contact ada@x.example, and the links to it.
type world struct {
	*contactstest.World
	*unsubscribe.Unsubscribe

	contact string
	events  []string // "topic email send" of each reported event
	failure error    // what OnUnsubscribe returns
	// addresses has addresses of recipients by the ids of organization, send and contact
	addresses map[string]string
}

// RecipientAddress makes the world an AddressReader.
func (w *world) RecipientAddress(_ context.Context, org, send, contact string) (string, error) {
	if address, is := w.addresses[org+send+contact]; is {
		return address, nil
	}
	return "", core.NotFound("recipient")
}

// newWorld returns a world on the database. Ada has chosen offers, and has no choice about
// news, whose default is OPT_IN.
func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{World: contactstest.New(t, db)}
	w.Unsubscribe = unsubscribe.New(unsubscribe.Config{
		Links: newLinks(t, 1, unsubscribe.KeyPurpose), Contacts: db.Contacts(), Choices: w.Contacts, Topics: db.Topics(), Orgs: db.Orgs(),
		Transactor: db, Languages: german{}, Addresses: w, Clock: w.Clock,
		OnUnsubscribe: func(_ context.Context, org string, u unsubscribe.Unsubscription) error {
			if w.failure == nil {
				w.events = append(w.events, u.Topic+" "+u.Email+" "+u.SendID)
			}
			if org != w.Org.ID || u.ContactID != w.contact || u.At.IsZero() {
				t.Errorf("reported %+v in %s", u, org)
			}
			return w.failure
		},
	})
	w.SyncNow(t)
	w.contact, _ = w.Want(t, "contacts_upsert", `{"email":"ada@x.example","topic_preferences":{"offers":"OPT_IN"}}`)["id"].(string)
	return w
}

type german struct{}

func (german) Language(context.Context, string) (string, error) { return "de", nil }

// open opens the link of a mail about the topic to the contact, and of the send sendID.
func (w *world) open(t *testing.T, contact, topic string) unsubscribe.Visit {
	t.Helper()
	_, token := linkFor(t, w.Links, w.Org.ID, unsubscribe.Recipient{ContactID: contact, SendID: sendID, Topic: topic})
	v, err := w.Open(t.Context(), token)
	must(t, err)
	return v
}

// takeEvents returns the events since the last call.
func (w *world) takeEvents() []string {
	events := w.events
	w.events = nil
	return events
}

// consent returns the contact's consent in the database and at the sending account.
func (w *world) consent(t *testing.T) (here, account sending.Contact) { //nolint:nonamedreturns // says which
	t.Helper()
	c, err := w.DB.Contacts().ContactByID(t.Context(), w.Org.ID, w.contact)
	must(t, err)
	account, _ = w.AccountContact(t, c.Email)
	return contacts.ConsentOf(c), account
}
