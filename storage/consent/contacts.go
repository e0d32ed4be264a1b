package consent

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// contactRow is a contact of a contact list.
type contactRow struct {
	Email          string      `db:"email"`
	UnsubscribeAll bool        `db:"unsubscribe_all"`
	Preferences    string      `db:"preferences"`
	Position       int64       `db:"position"`
	UpdatedAt      engine.Time `db:"updated_at"`
}

// savedContact is an element of the JSON parameter of putConsentContacts and
// adoptConsentContacts.
type savedContact struct {
	Key            string      `json:"key"`
	Email          string      `json:"email"`
	UnsubscribeAll bool        `json:"unsubscribe_all"`
	Preferences    string      `json:"preferences"`
	Position       int64       `json:"position"`
	UpdatedAt      engine.Time `json:"updated_at"`
}

// insertContactsSQL inserts the contacts of the parameter $2.
var insertContactsSQL = `
	INSERT INTO consent_contacts (org_id, email_key, email, unsubscribe_all, preferences, position, updated_at)
	SELECT $1, v ->> 'key', v ->> 'email', CAST(v ->> 'unsubscribe_all' AS boolean), v ->> 'preferences',
		CAST(v ->> 'position' AS bigint), CAST(v ->> 'updated_at' AS bigint)
	FROM ` + engine.ParameterRows(`$2`) + ` WHERE TRUE
	ON CONFLICT (org_id, email_key) DO `

var (
	consentContact = engine.RegisterPoint("consent contact", `
		SELECT email, unsubscribe_all, preferences, position, updated_at FROM consent_contacts
		WHERE org_id = $1 AND email_key = $2`)
	consentContactsPage = engine.Register("consent contacts page", `
		SELECT email, unsubscribe_all, preferences, position, updated_at FROM consent_contacts
		WHERE org_id = $1 AND position > $2 ORDER BY position LIMIT $3`)
	// putConsentContacts inserts contacts, or replaces their consent. A contact with this
	// consent does not change, also not its time. A replaced contact keeps its position and the
	// first spelling of its address.
	putConsentContacts = engine.Register("put consent contacts", insertContactsSQL+`UPDATE SET
			unsubscribe_all = excluded.unsubscribe_all, preferences = excluded.preferences, updated_at = excluded.updated_at
		WHERE consent_contacts.unsubscribe_all <> excluded.unsubscribe_all OR consent_contacts.preferences <> excluded.preferences`)
	// adoptConsentContacts inserts the contacts whose addresses are not on the list.
	adoptConsentContacts = engine.Register("adopt consent contacts", insertContactsSQL+`NOTHING`)
	deleteConsentContact = engine.Register("delete consent contact", `
		DELETE FROM consent_contacts WHERE org_id = $1 AND email_key = $2`)
)

// Contact returns the consent of the contact with this address, compared without regard to
// case. It fails with NotFound if the organization has no such contact.
func (s Store) Contact(ctx context.Context, orgID, email string) (sending.Contact, error) {
	rows, err := engine.List[contactRow](ctx, s.db, consentContact, orgID, sending.ContactKey(email))
	switch {
	case err != nil:
		return sending.Contact{}, failureOf(err, false)
	case len(rows) == 0:
		return sending.Contact{}, noContact()
	}
	return rows[0].contact(), nil
}

func (r contactRow) contact() sending.Contact {
	return sending.Contact{
		Email: r.Email, UnsubscribeAll: r.UnsubscribeAll, Preferences: sending.DecodePreferences(r.Preferences), UpdatedAt: r.UpdatedAt.Time(),
	}
}

// Contacts returns a page of at most 1,000 contacts, in the order of their creation, and the
// token of the next page. A contact that is on the list during the whole iteration appears
// exactly once, and one that is added in between appears later. It fails with NotFound without a
// list, and with Invalid for a malformed token or a token of another organization.
func (s Store) Contacts(ctx context.Context, orgID, token string) ([]sending.Contact, string, error) {
	return s.page(ctx, orgID, token, sending.MaxPage)
}

// page returns a page of at most size contacts; see Contacts.
func (s Store) page(ctx context.Context, orgID, token string, size int) ([]sending.Contact, string, error) {
	after, err := sending.DecodePageToken(orgID, token)
	if err != nil {
		return nil, "", err
	}
	if _, err := s.list(ctx, consentList, orgID); err != nil {
		return nil, "", failureOf(err, false)
	}
	rows, err := engine.List[contactRow](ctx, s.db, consentContactsPage, orgID, after, size+1)
	if err != nil {
		return nil, "", failureOf(err, false)
	}
	next := ""
	if len(rows) > size {
		rows = rows[:size]
		next = sending.EncodePageToken(orgID, rows[size-1].Position)
	}
	page := make([]sending.Contact, len(rows))
	for i, r := range rows {
		page[i] = r.contact()
	}
	return page, next, nil
}

// PutContact creates the contact or replaces its consent, and stores the time of the change. A
// contact that has this consent already is not changed. It fails with Invalid for an unknown
// topic, an unknown choice or a malformed address, and with NotFound without a contact list.
func (s Store) PutContact(ctx context.Context, orgID string, c sending.Contact) error {
	outcomes, err := s.PutContacts(ctx, orgID, []sending.Contact{c})
	if err == nil && outcomes[0] != nil {
		return outcomes[0]
	}
	return err
}

// PutContacts stores up to 1,000 contacts like PutContact, in one transaction with four
// statements. A contact that fails with Invalid does not affect the others, and its failure is
// in the result at the contact's index. After any other failure no contact is stored. The call
// fails with Invalid for too many contacts and for two with one address.
func (s Store) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error) {
	if err := sending.CheckContacts(contacts); err != nil {
		return nil, err
	}
	var outcomes []*sending.Failure
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		outcomes = make([]*sending.Failure, len(contacts))
		list, err := s.list(ctx, holdConsentList, len(contacts), orgID)
		if err != nil {
			return err
		}
		var topics map[string]bool
		if hasPreferences(contacts) {
			if topics, err = s.topicNames(ctx, orgID); err != nil {
				return err
			}
		}
		now := s.clock()
		put := make([]savedContact, 0, len(contacts))
		for i, c := range contacts {
			if refused, ok := errors.AsType[*sending.Failure](sending.CheckListed(c, topics)); ok {
				outcomes[i] = refused
			} else {
				put = append(put, saved(c, list.NextPosition-int64(len(contacts)-i), now))
			}
		}
		if len(put) == 0 {
			return nil
		}
		return engine.ExecRows(ctx, s.db, putConsentContacts, orgID, put)
	})
	if err != nil {
		return nil, failureOf(err, true)
	}
	return outcomes, nil
}

func saved(c sending.Contact, position int64, at time.Time) savedContact {
	return savedContact{
		Key: sending.ContactKey(c.Email), Email: c.Email, UnsubscribeAll: c.UnsubscribeAll,
		Preferences: sending.EncodePreferences(c.Preferences), Position: position, UpdatedAt: engine.At(at),
	}
}

// DeleteContact removes an address from the contact list. It succeeds if the organization has
// no such contact or no list.
func (s Store) DeleteContact(ctx context.Context, orgID, email string) error {
	_, err := s.db.Exec(ctx, deleteConsentContact, orgID, sending.ContactKey(email))
	return failureOf(err, true)
}

// EraseAddress deletes the contact with an address, which is all that the store has about it; see
// [sending.Eraser]. The rows of deleted organizations are erased with all other rows of them.
func (s Store) EraseAddress(ctx context.Context, orgID, email string) error {
	return s.DeleteContact(ctx, orgID, email)
}
