package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store is the mirror: what Mailhelm remembers of an audience. Finders of one
// thing fail with core.CodeNotFound; everything takes part in the transaction of
// its context and sees only the organization it is given.
type Store interface {
	// ContactByEmail finds by EmailKey, archived contacts too. ContactByExternalID
	// and ContactByID likewise. The contact comes with its topic preferences and
	// its lists. Inside a transaction it is locked until the transaction ends.
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
	ContactByID(ctx context.Context, orgID, id string) (Contact, error)
	// Contacts is one page, newest first by creation and id, of contacts with the status;
	// all of them, for a nil filter member. It returns at most f.Limit,
	// without their lists.
	Contacts(ctx context.Context, orgID string, f ContactFilter) ([]Contact, error)
	// CountContacts counts the active ones, without stubs.
	CountContacts(ctx context.Context, orgID string) (int, error)
	// DropShell removes a contact that only a sync has made; others stay, and so does
	// one that has activities.
	DropShell(ctx context.Context, orgID, contactID string) error
	// InsertContact stores a new contact with its preferences. It fails with
	// core.CodeConflict when the address or the external id is taken, archived
	// contacts included, and leaves the transaction usable.
	InsertContact(ctx context.Context, orgID string, c Contact) error
	// UpdateContact replaces a contact found by id, with its preferences; it is no
	// shell any more, and a stub if c is. It
	// fails as InsertContact does when the new address or external id is taken.
	UpdateContact(ctx context.Context, orgID string, c Contact) error

	VisitorStore
	BulkStore
	PushStore
	NoteStore
}

// ContactFilter narrows a page of contacts. All members that are set must match.
type ContactFilter struct {
	// Status is Active, also when it is "", or Archived.
	Status ContactStatus
	// Topic with Subscription, OptIn when it is "": the effective choice, the explicit
	// one or else the topic's default. A stub is never OptIn.
	Topic        string
	Subscription sending.Subscription
	// UnsubscribeAll matches the global opt-out.
	UnsubscribeAll *bool
	// AttributeKey and AttributeValue: the attribute's value as text is equal.
	AttributeKey   string
	AttributeValue *string
	After          *core.After
	Limit          int
}
