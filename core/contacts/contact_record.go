package contacts

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ContactStatus is "active" or "archived".
type ContactStatus string

// The states of a contact. An archived contact keeps its address, external id and consent.
// It belongs to no list and is not mailable.
const (
	Active   ContactStatus = "active"
	Archived ContactStatus = "archived"
)

// Contact is one person in an organization's audience.
type Contact struct {
	ID               string              `json:"id" jsonschema:"format=uuid"`
	Email            string              `json:"email" voice:"untrusted" jsonschema_description:"Address in its most recently written spelling. Addresses that differ only in case are the same contact."`
	ExternalID       *string             `json:"external_id" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"The caller's own id, unique in the organization."`
	Status           ContactStatus       `json:"status" jsonschema:"enum=active,enum=archived"`
	Attributes       map[string]any      `json:"attributes" voice:"untrusted" jsonschema_description:"Values by attribute name, each in the attribute's type."`
	TopicPreferences []topics.Preference `json:"topic_preferences" jsonschema_description:"Explicit choices only; every other topic has its default."`
	UnsubscribeAll   bool                `json:"unsubscribe_all" jsonschema_description:"Whether the global opt-out is set."`
	Mailable         bool                `json:"mailable" jsonschema_description:"Whether the contact may get mail at all: it is active, has no global opt-out, and is known not only from activities. Topics and suppression are checked for each message."`
	// Hidden has stored attribute values that no result shows: values of deleted attributes,
	// and values that do not fit their attribute's type. A write keeps them unless it
	// replaces all values.
	Hidden map[string]any `json:"-"`
	// Shell is true for a contact that a sync created and that no caller has written yet (a
	// shell). If a caller creates a contact with the shell's address, the shell turns into
	// that contact. If an existing contact gets the shell's address, the shell is deleted. The
	// address of a shell with activities is taken, because deleting it would lose them.
	Shell bool `json:"-"`
	// Stub is true for a contact that only activities have named. It has not consented, the
	// sending account does not have its address, and it is not mailable. It stops being a
	// stub when a write creates or replaces the contact or states consent (see
	// [Plan.KeepsStub]), or when a sync finds its address at the account. Another contact
	// cannot take its address, because it has activities.
	Stub bool `json:"-"`
	// ConsentChanges says since when and by whom the choices above are as they are stored. No
	// result shows it.
	ConsentChanges consent.Changes `json:"-"`
	// Pending is the consent that a job has yet to write to the sending account; nil for none. Only
	// a read of one contact outside of a transaction sets it.
	Pending *consent.Pending `json:"-"`
	// Lists is set in results about one contact; it is nil and absent in pages of contacts.
	Lists     []lists.Ref `json:"lists,omitzero" jsonschema_description:"The static lists the contact is on."`
	CreatedAt time.Time   `json:"created_at"`
	UpdatedAt time.Time   `json:"updated_at"`
}

// EmailKey returns the lower-case form of an address. The store finds contacts by this
// form, and an organization has at most one contact with it. RFC 5321 allows case-sensitive
// local parts, but mailbox providers and sending accounts ignore case. An internationalized
// domain and its ASCII form have the same key.
func EmailKey(email string) string { return core.EmailKey(email) }

// canonicalEmail returns an address in the form that is stored and sent to the sending
// account. It returns invalid text unchanged.
func canonicalEmail(email string) string {
	if canonical, ok := core.CanonicalEmail(email); ok {
		return canonical
	}
	return email
}

// withMailable returns the contact with Mailable computed from its status and consent.
func (c Contact) withMailable() Contact {
	c.Mailable = c.Status == Active && !c.Stub && !c.UnsubscribeAll
	return c
}

// MailableNote returns a sentence that says that mail may be sent to the contact, or why it
// may not. It uses only fields that a result shows, because a repeated call gets a stored
// result, which has no other fields.
func (c Contact) MailableNote() string {
	switch {
	case c.Status == Archived:
		return "Not mailable: the contact is archived."
	case c.UnsubscribeAll:
		return "Not mailable: the contact opted out of everything."
	case !c.Mailable:
		return "Not mailable: the address is known only from activities, without consent. Record consent with topic_preferences or unsubscribe_all."
	}
	for _, choice := range c.TopicPreferences {
		if choice.SubscriptionStatus == sending.OptOut {
			return "Mailable, except about topics the contact opted out of."
		}
	}
	return "Mailable."
}
