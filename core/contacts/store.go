package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store is the storage of contacts, including a copy of their consent at the sending
// account. Methods that find one record fail with core.CodeNotFound if it does not exist.
// Every method takes part in the transaction of its context and reads and writes only the
// given organization.
type Store interface {
	// ContactByEmail, ContactByExternalID and ContactByID return a contact with its topic
	// preferences and its lists, archived or not. ContactByEmail compares by EmailKey. In a
	// transaction they lock the contact until the transaction ends.
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
	ContactByID(ctx context.Context, orgID, id string) (Contact, error)
	// LookUp returns the contact that the key names, like the methods above, with the details
	// that a lookup shows. It takes one statement, and does not lock the contact.
	LookUp(ctx context.Context, orgID string, k Key) (Contact, Details, error)
	// Contacts returns at most f.Limit contacts that match the filter, ordered by creation
	// time and id, newest first. Their Lists are not set.
	Contacts(ctx context.Context, orgID string, f ContactFilter) ([]Contact, error)
	// HasActivities reports whether the contact has activities.
	HasActivities(ctx context.Context, orgID, contactID string) (bool, error)
	// DropShell deletes a contact if only a sync has written it and it has no activities.
	// Otherwise it does nothing.
	DropShell(ctx context.Context, orgID, contactID string) error
	// InsertContact stores a new contact with its topic preferences. It fails with
	// core.CodeConflict if another contact, archived or not, has the same address or the
	// same external id. The transaction stays usable after this failure.
	InsertContact(ctx context.Context, orgID string, c Contact) error
	// UpdateContact replaces the contact with the id c.ID and its topic preferences. It
	// clears Shell, the mark of contacts that only a sync has created, and sets Stub to
	// c.Stub. It fails with core.CodeConflict if another contact has the address or the
	// external id.
	UpdateContact(ctx context.Context, orgID string, c Contact) error
	// PendingPush returns the consent of a contact that is still to be written to the sending
	// account; nil for none.
	PendingPush(ctx context.Context, orgID, contactID string) (*consent.Pending, error)
}

// Key names a contact by its address, which is compared by EmailKey, by its external id or by
// its id. Exactly one field is set.
type Key struct{ Email, ExternalID, ID string }

// Details are what a lookup shows about a contact and [Contact] does not have.
type Details struct {
	// SealedVisitorID is the visitor id in the form of VisitorIDs.Open; nil if there is none.
	SealedVisitorID []byte
	// Segments is the number of segments that the contact is in, without archived ones.
	Segments int
	// Suppressed is true if the stored copy of the sending account's suppression list has the
	// address.
	Suppressed bool
}

// ContactFilter selects a page of contacts. A contact must match all fields that are set.
type ContactFilter struct {
	// Status is Active or Archived; "" means Active.
	Status ContactStatus
	// Topic and Subscription select contacts by their choice about a topic: the explicit
	// choice, or else the topic's default. An empty Subscription means OptIn. A stub is
	// never OptIn.
	Topic        string
	Subscription sending.Subscription
	// UnsubscribeAll selects contacts by their global opt-out; nil selects all.
	UnsubscribeAll *bool
	// AttributeKey and AttributeValue select contacts whose attribute, converted to text,
	// equals the value.
	AttributeKey   string
	AttributeValue *string
	After          *core.After
	Limit          int
}
