package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of Contacts. All fields are required, except those whose
// comment says what nil means.
type Config struct {
	Store Store
	// Visitors stores visitor ids, Notes what a write is about to change at the account.
	Visitors VisitorStore
	Notes    NoteStore
	Account  sending.Account
	// Attributes reads the registry that values of contacts are checked against.
	Attributes AttributeReader
	// List is the account's contact list.
	List AccountList
	// Lists turns names into changes of membership, and applies them.
	Lists Memberships
	// Locks serializes the writers of an address. It is shared with the sync.
	Locks *sending.KeyedLocks
	// Sealer seals visitor ids.
	Sealer sending.Sealer
	Clock  core.Clock

	// OnChange is called in the transaction of a write, with the contacts whose record,
	// consent or lists changed. nil reports nothing.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// Record stores an activity of a contact, in the transaction of the write that
	// caused it. nil records nothing.
	Record func(ctx context.Context, orgID, contactID, activity string, at time.Time) error
	// SegmentsOf counts the segments that a contact is in; nil counts none.
	SegmentsOf func(ctx context.Context, orgID, contactID string) (int, error)
}

// AttributeReader reads the registry of attributes.
type AttributeReader interface {
	// Attributes returns all attributes of the organization, by name.
	Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error)
}

// AccountList is the sending account's contact list.
type AccountList interface {
	// Topics returns the account's topics by name, nil without an account or a list.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
	// DropUnknownTopics returns a consent without choices about topics that the account no
	// longer has.
	DropUnknownTopics(ctx context.Context, orgID string, consent sending.Contact) (sending.Contact, error)
	// WriteToList runs a write that needs the list. If the account has none, it makes the list
	// and runs the write again, with bare set.
	WriteToList(ctx context.Context, orgID string, write func(bare bool) error) error
}

// Memberships changes which static lists contacts are on.
type Memberships interface {
	// ExactChange, Directed and AddAndRemove return the change that a caller asks for, nil for
	// none. They fail with core.CodeValidationFailed for names of no list.
	ExactChange(ctx context.Context, orgID, field string, names *lists.Names) (*lists.Change, error)
	DirectiveChange(ctx context.Context, orgID string, d *lists.Directive) (*lists.Change, error)
	AddAndRemove(ctx context.Context, orgID, prefix string, joins, leaves []string) (*lists.Change, error)
	// ApplyChange and LeaveAll change the membership in the transaction of a write.
	ApplyChange(ctx context.Context, orgID, contactID string, current []lists.Ref, change *lists.Change) ([]lists.Ref, error)
	LeaveAll(ctx context.Context, orgID, contactID string, at time.Time) (int, error)
}

// Contacts runs the operations of this package. What they share is done by a [writer], a
// [consentReader] and [visitors], which use the same Config.
type Contacts struct {
	Config
}

// New returns a Contacts.
func New(cfg Config) *Contacts { return &Contacts{cfg} }

func (cs *Contacts) writer() writer { return writer{&cs.Config} }

func (cs *Contacts) consents() consentReader { return consentReader{&cs.Config} }

func (cs *Contacts) visitors() visitors { return visitors{&cs.Config} }

// reportChanged reports a written contact to Config.OnChange.
func (c *Config) reportChanged(ctx context.Context, orgID, contactID string) error {
	if c.OnChange == nil {
		return nil
	}
	return c.OnChange(ctx, orgID, []string{contactID})
}

// Operations returns the operations of this package except SetListMembership, in the
// order of the catalogue.
func (cs *Contacts) Operations() []core.Operation {
	return []core.Operation{
		cs.contactsLookup(),
		cs.contactsList(),
		cs.contactsCreate(),
		cs.contactsReplace(),
		cs.contactsUpdate(),
		cs.contactsUpsert(),
		cs.contactsUpsertByExternalID(),
		cs.contactsArchive(),
		cs.contactsArchiveByExternalID(),
		cs.contactsIdentify(),
	}
}
