package storage_test

import (
	"iter"
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/consent"
)

var consentStore = reflect.TypeFor[smtp.Consent]()

// listed is a contact of the list of each organization.
const listed = "listed@x"

// ownConsent creates the contact list of the organization, with a topic and a contact.
func (o ownedObjects) ownConsent(t *testing.T, db *storage.DB) {
	t.Helper()
	must(t, db.Consent().EnsureContactList(t.Context(), o.org))
	must(t, db.Consent().ChangeTopics(t.Context(), o.org, newTopics("news")))
	must(t, db.Consent().PutContact(t.Context(), o.org, sending.Contact{Email: listed, UnsubscribeAll: true}))
}

func newTopics(name string) sending.TopicsChange {
	return func([]sending.Topic) ([]sending.Topic, error) {
		return []sending.Topic{{Name: name, Default: sending.OptIn}}, nil
	}
}

func (o ownedObjects) consentState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	list, err := db.Consent().ContactList(t.Context(), o.org)
	must(t, err)
	page, _, err := db.Consent().Contacts(t.Context(), o.org, "")
	must(t, err)
	return []any{list, page}
}

func consentCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"smtp.Consent.ContactList": func(t *testing.T, db *storage.DB) (any, error) { return db.Consent().ContactList(t.Context(), org) },
		"EnsureContactList": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().EnsureContactList(t.Context(), org)
		},
		"ChangeTopics": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().ChangeTopics(t.Context(), org, newTopics("other"))
		},
		"smtp.Consent.Contact": func(t *testing.T, db *storage.DB) (any, error) { return db.Consent().Contact(t.Context(), org, listed) },
		"smtp.Consent.Contacts": func(t *testing.T, db *storage.DB) (any, error) {
			page, _, err := db.Consent().Contacts(t.Context(), org, "")
			return page, err
		},
		"PutContact": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().PutContact(t.Context(), org, sending.Contact{Email: listed})
		},
		"PutContacts": func(t *testing.T, db *storage.DB) (any, error) {
			_, err := db.Consent().PutContacts(t.Context(), org, []sending.Contact{{Email: listed}})
			return nil, err
		},
		"DeleteContact": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().DeleteContact(t.Context(), org, listed)
		},
		"EraseAddress": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().EraseAddress(t.Context(), org, listed)
		},
		"AdoptList": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Consent().Adopt(t.Context(), org, consent.Moved{
				List: sending.ContactList{Name: "moved"}, Hash: "hash", Contacts: func() iter.Seq2[[]sending.Contact, error] {
					return func(yield func([]sending.Contact, error) bool) {
						yield([]sending.Contact{{Email: listed}, {Email: "moved@x"}}, nil)
					}
				},
			})
		},
	}
}
