package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store is the mirror: what Mailhelm stores of contacts. Methods that find one thing
// fail with core.CodeNotFound. Every method takes part in the transaction of its context
// and sees only the given organization.
type Store interface {
	// ContactByEmail, ContactByExternalID and ContactByID return a contact with its
	// topic preferences and its lists. They find archived contacts too. ContactByEmail
	// compares by EmailKey. Inside a transaction they lock the contact until the
	// transaction ends.
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
	ContactByID(ctx context.Context, orgID, id string) (Contact, error)
	// Contacts returns a page of at most f.Limit contacts that match the filter, newest
	// first by creation and id. It leaves out their lists.
	Contacts(ctx context.Context, orgID string, f ContactFilter) ([]Contact, error)
	// DropShell deletes a contact if it is a shell without activities. It keeps any
	// other contact.
	DropShell(ctx context.Context, orgID, contactID string) error
	// InsertContact stores a new contact with its preferences. It fails with
	// core.CodeConflict if another contact, archived or not, has the address or the
	// external id. The transaction stays usable.
	InsertContact(ctx context.Context, orgID string, c Contact) error
	// UpdateContact replaces the contact with c.ID and its preferences. The contact is
	// no shell afterwards; it is a stub if c is. It fails as InsertContact does if the
	// new address or external id is taken.
	UpdateContact(ctx context.Context, orgID string, c Contact) error
	// PendingPush returns the consent of a contact that has not reached the account; nil
	// for none.
	PendingPush(ctx context.Context, orgID, contactID string) (*Said, error)
}

// ContactFilter narrows a page of contacts. All members that are set must match.
type ContactFilter struct {
	// Status is Active, also when it is "", or Archived.
	Status ContactStatus
	// Topic and Subscription match the effective choice: the explicit one, or else the
	// topic's default. An empty Subscription means OptIn. A stub is never OptIn.
	Topic        string
	Subscription sending.Subscription
	// UnsubscribeAll matches the global opt-out.
	UnsubscribeAll *bool
	// AttributeKey and AttributeValue match contacts whose attribute, as text, equals
	// the value.
	AttributeKey   string
	AttributeValue *string
	After          *core.After
	Limit          int
}
