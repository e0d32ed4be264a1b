package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var (
	// insertContact inserts a contact record. It changes nothing if the address or external
	// id is taken, because a unique violation would abort the transaction on PostgreSQL.
	insertContact = engine.Register("insert contact", insertOneSQL()+`
		ON CONFLICT DO NOTHING`)
	updateContact = engine.Register("update contact", updateOneSQL())

	// dropShell deletes a shell, a contact that exists only because a sync created it. It
	// keeps a shell with activities, because no foreign key deletes activities, and they
	// would name a missing contact.
	dropShell = engine.Register("drop shell", `
		DELETE FROM contacts WHERE org_id = $1 AND id = $2 AND shell
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = $1 AND a.contact_id = $2)`)
	hasActivities = engine.Register("contact has activities", `SELECT 1 FROM activities WHERE org_id = $1 AND contact_id = $2 LIMIT 1`)
)

// InsertContact stores a new contact. It first takes the shared lock on the attribute
// definitions, so that these do not change before the contact's record and its row of
// contact_slots are written. It fails with Conflict if the address or external id is taken.
func (s Store) InsertContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := PreferenceMap(c.TopicPreferences)
	preferences, err := EncodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slots.SettleAndEncode(ctx, s.db, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		row := RowOf(c, attributes, preferences)
		err = s.db.Insert(ctx, contactTakenError(), insertContact, append([]any{orgID}, row.values()...)...)
		if err != nil {
			return err
		}
		if err := slots.Write(ctx, s.db, orgID, []slots.Contact{{ID: c.ID, Active: c.Status == contacts.Active, Attributes: settled}}); err != nil {
			return err
		}
		return AddChoices(ctx, s.db, orgID, ChoicesOf(nil, c.ID, choices))
	})
}

// UpdateContact stores a changed contact. It does not write contact_topics if the
// preferences equal those that the transaction has read. It fails with NotFound if the
// contact does not exist, and with Conflict if the address or external id is taken.
func (s Store) UpdateContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := PreferenceMap(c.TopicPreferences)
	preferences, err := EncodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slots.SettleAndEncode(ctx, s.db, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		c.Shell = false // a caller writes the contact, so it is no longer known only from a sync
		row := RowOf(c, attributes, preferences)
		before, wasRead := (*lockedContacts.Of(ctx, s.db))[c.ID]
		if err := s.update(ctx, orgID, row, wasRead && before.hasKeys(row)); err != nil {
			return err
		}
		if err := slots.Write(ctx, s.db, orgID, []slots.Contact{{ID: c.ID, Active: c.Status == contacts.Active, Attributes: settled}}); err != nil {
			return err
		}
		if wasRead && before.preferences == preferences {
			return nil
		}
		return ReplaceChoices(ctx, s.db, orgID, []string{c.ID}, ChoicesOf(nil, c.ID, choices))
	})
}

// update writes the row of a contact. keepsKeys is true if the transaction has locked the contact
// and the row has its address and external id. Then the update cannot fail, and waits for other
// writes of the transaction.
func (s Store) update(ctx context.Context, orgID string, row Row, keepsKeys bool) error {
	args := append(row.changes(), orgID, row.ID)
	if keepsKeys {
		return s.db.Later(ctx, updateContact, args...)
	}
	delete(*lockedContacts.Of(ctx, s.db), row.ID)
	changed, err := s.db.Exec(ctx, updateContact, args...)
	if err != nil || changed > 0 {
		return err
	}
	if _, err := s.ContactByID(ctx, orgID, row.ID); err != nil {
		return err
	}
	return contactTakenError()
}

// HasActivities reports whether the contact has activities.
func (s Store) HasActivities(ctx context.Context, orgID, contactID string) (bool, error) {
	found, err := engine.Values[int](ctx, s.db, hasActivities, orgID, contactID)
	return len(found) > 0, err
}

// DropShell deletes a contact that exists only because a sync created it, unless it has
// activities. Foreign keys delete its row of contact_slots, its topic choices and its list
// memberships.
func (s Store) DropShell(ctx context.Context, orgID, contactID string) error {
	_, err := s.db.Exec(ctx, dropShell, orgID, contactID)
	return err
}

// contactTaken is the error for an address or external id that another contact has. It does
// not say which of the two is taken, because the SQL statements do not return that.
var contactTaken = core.Error{
	Code:    core.CodeConflict,
	Message: "Another contact of this organization has this address or external id.",
	Next:    "Look the contact up by its address and by its external id, archived ones too, and change that one.",
}

// contactTakenError returns a copy of the error contactTaken. The caller may change the
// copy.
func contactTakenError() *core.Error {
	e := contactTaken // copied, because callers may change the error
	return &e
}
