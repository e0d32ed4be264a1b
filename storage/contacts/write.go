package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var (
	// insertContact changes nothing if the address or the external id is taken, so that
	// the transaction stays usable on PostgreSQL.
	insertContact = engine.Register("insert contact", insertOneSQL()+`
		ON CONFLICT DO NOTHING`)
	updateContact = engine.Register("update contact", updateOneSQL())

	// A contact with activities is kept, because deleting it would lose them.
	dropShell = engine.Register("drop shell", `
		DELETE FROM contacts WHERE org_id = $1 AND id = $2 AND shell
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = $1 AND a.contact_id = $2)`)
)

// InsertContact shares the registry before it inserts, so that no change of attributes
// comes between the record and its slots.
func (s Store) InsertContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := PreferenceMap(c.TopicPreferences)
	preferences, err := EncodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slots.Settled(ctx, s.db, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		row := RowOf(c, attributes, preferences)
		err = s.db.Insert(ctx, taken(), insertContact, append([]any{orgID}, row.values()...)...)
		if err != nil {
			return err
		}
		if err := slots.Write(ctx, s.db, orgID, []slots.Contact{{ID: c.ID, Active: c.Status == contacts.Active, Attributes: settled}}); err != nil {
			return err
		}
		return AddChoices(ctx, s.db, orgID, ChoicesOf(nil, c.ID, choices))
	})
}

// UpdateContact leaves contact_topics alone if the transaction has read the same
// preferences.
func (s Store) UpdateContact(ctx context.Context, orgID string, c contacts.Contact) error {
	choices := PreferenceMap(c.TopicPreferences)
	preferences, err := EncodePreferences(choices)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		settled, attributes, err := slots.Settled(ctx, s.db, orgID, c.StoredAttributes())
		if err != nil {
			return err
		}
		c.Shell = false // the caller has now provided this contact
		row := RowOf(c, attributes, preferences)
		changed, err := s.db.Exec(ctx, updateContact, append(row.changes(), orgID, c.ID)...)
		if err != nil {
			return err
		}
		if changed == 0 {
			if _, err := s.ContactByID(ctx, orgID, c.ID); err != nil {
				return err
			}
			return taken()
		}
		if err := slots.Write(ctx, s.db, orgID, []slots.Contact{{ID: c.ID, Active: c.Status == contacts.Active, Attributes: settled}}); err != nil {
			return err
		}
		if before, read := (*readPreferences.Of(ctx, s.db))[c.ID]; read && before == preferences {
			return nil
		}
		return ReplaceChoices(ctx, s.db, orgID, []string{c.ID}, ChoicesOf(nil, c.ID, choices))
	})
}

// DropShell also removes the slots, the choices and the memberships, by the foreign keys
// of their tables.
func (s Store) DropShell(ctx context.Context, orgID, contactID string) error {
	_, err := s.db.Exec(ctx, dropShell, orgID, contactID)
	return err
}

// contactTaken does not say which of the two is taken, because the statements do not
// tell.
var contactTaken = core.Error{
	Code:    core.CodeConflict,
	Message: "Another contact of this organization has this address or external id.",
	Next:    "Look the contact up by its address and by its external id, archived ones too, and change that one.",
}

// taken returns a new copy of contactTaken.
func taken() *core.Error {
	e := contactTaken // a copy, because callers may add to an error
	return &e
}
