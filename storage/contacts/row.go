package contacts

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Row is a row of the table contacts. Every statement that reads or writes whole records is
// generated from its fields; see columns.go. A new column needs a field here, and a line
// each in Row.Contact and RowOf.
type Row struct {
	ID               string                 `db:"id" json:"id"`
	Email            string                 `db:"email" json:"email"`
	EmailKey         string                 `db:"email_key" json:"email_key" read:"never"`
	ExternalID       *string                `db:"external_id" json:"external_id"`
	Status           contacts.ContactStatus `db:"status" json:"status"`
	Attributes       string                 `db:"attributes" json:"attributes"`
	TopicPreferences string                 `db:"topic_preferences" json:"topic_preferences"`
	UnsubscribeAll   bool                   `db:"unsubscribe_all" json:"unsubscribe_all"`
	ConsentChanges   string                 `db:"consent_changes" json:"consent_changes"`
	Shell            bool                   `db:"shell" json:"shell"`
	Stub             bool                   `db:"stub" json:"stub"`
	CreatedAt        engine.Time            `db:"created_at" json:"created_at" write:"once"`
	UpdatedAt        engine.Time            `db:"updated_at" json:"updated_at"`
}

// RowOf returns the row of a contact. attributes is the JSON of the contact's attribute
// values, and preferences the JSON of its topic preferences.
func RowOf(c contacts.Contact, attributes, preferences string) Row {
	return Row{
		ID: c.ID, Email: c.Email, EmailKey: contacts.EmailKey(c.Email), ExternalID: c.ExternalID, Status: c.Status,
		Attributes: attributes, TopicPreferences: preferences, UnsubscribeAll: c.UnsubscribeAll, Shell: c.Shell, Stub: c.Stub,
		ConsentChanges: EncodeChanges(c.ConsentChanges), CreatedAt: engine.At(c.CreatedAt), UpdatedAt: engine.At(c.UpdatedAt),
	}
}

// emptyObject is the JSON that is stored for a contact without attributes or without
// preferences.
const emptyObject = "{}"

// Contact converts the row to a contact without lists. The attribute values are those
// stored, including values that reads hide. It returns an error if a JSON column does not
// parse.
func (r Row) Contact() (contacts.Contact, error) {
	c := contacts.Contact{
		ID: r.ID, Email: r.Email, ExternalID: r.ExternalID, Status: r.Status, UnsubscribeAll: r.UnsubscribeAll, Shell: r.Shell, Stub: r.Stub,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
	var err error
	if c.Attributes, err = decodeAttributes(r.Attributes); err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: attributes of contact %s: %w", r.ID, err)
	}
	if c.ConsentChanges, err = decodeChanges(r.ConsentChanges); err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: consent changes of contact %s: %w", r.ID, err)
	}
	if c.TopicPreferences, err = decodePreferences(r.TopicPreferences); err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: topic preferences of contact %s: %w", r.ID, err)
	}
	return c, nil
}
