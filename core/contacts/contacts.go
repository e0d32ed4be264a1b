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
	Store    Store
	Searches SearchStore
	// Notes stores a note before a write changes the sending account; a note that remains
	// shows an interrupted write.
	Notes      NoteStore
	VisitorIDs VisitorIDs
	Account    sending.Account
	// Attributes reads the defined attributes, against which values of contacts are checked.
	Attributes AttributeReader
	// List is the contact list of the sending account.
	List AccountList
	// Lists finds static lists by id or key, and changes which of them a contact is on.
	Lists Memberships
	// Locks makes writes to the same email address run one at a time. The job that syncs
	// contacts must use the same locks.
	Locks *sending.KeyedLocks
	// Pushes queues the consent that recipients state while the sending account fails. nil is
	// allowed if RecordChoice is never called.
	Pushes PushQueue
	Clock  core.Clock

	// OnChange is called in the transaction of a write, with the ids of the contacts whose
	// fields, consent or lists changed. nil means that changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// ErasedAddresses returns those of the addresses that must not become contacts again,
	// because a person was erased who must get no mail. nil means none.
	ErasedAddresses func(ctx context.Context, orgID string, emails []string) (map[string]bool, error)
}

// AttributeReader reads the definitions of attributes.
type AttributeReader interface {
	// Attributes returns the definitions of all attributes of the organization, in order of
	// their names.
	Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error)
	// AttributesNamed returns those of the definitions that have one of the names, in any order.
	AttributesNamed(ctx context.Context, orgID string, names []string) ([]attributes.Attribute, error)
}

// AccountList is the sending account's contact list.
type AccountList interface {
	// Topics returns the sending account's topics in order of their names. It returns nil if
	// the organization has no account, or if the account has no contact list.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
	// DropUnknownTopics returns the given consent without choices about topics that the
	// sending account no longer has.
	DropUnknownTopics(ctx context.Context, orgID string, consent sending.Contact) (sending.Contact, error)
	// WriteToList calls the function write, which needs the sending account's contact list.
	// If the account has no list, WriteToList creates one without topics and calls write
	// again. The argument bare is true in this second call.
	WriteToList(ctx context.Context, orgID string, write func(bare bool) error) error
}

// Memberships changes which static lists contacts are on.
type Memberships interface {
	// ExactChange, DirectiveChange and AddAndRemove return a change of the lists that a
	// contact is on; nil means no change. ExactChange puts the contact on exactly the named
	// lists. AddAndRemove adds the contact to the lists in joins and removes it from those
	// in leaves. DirectiveChange returns either kind of change, as d says. All fail with
	// core.CodeValidationFailed if a list does not exist.
	ExactChange(ctx context.Context, orgID, field string, names *lists.Names) (*lists.Change, error)
	DirectiveChange(ctx context.Context, orgID string, d *lists.Directive) (*lists.Change, error)
	AddAndRemove(ctx context.Context, orgID, prefix string, joins, leaves []string) (*lists.Change, error)
	// ApplyChange makes a change of a contact's list memberships. The method LeaveAll
	// removes a contact from all lists. Both methods run in the transaction of a write.
	ApplyChange(ctx context.Context, orgID, contactID string, current []lists.Ref, change *lists.Change) ([]lists.Ref, error)
	LeaveAll(ctx context.Context, orgID, contactID string, at time.Time) (int, error)
}

// VisitorIDs issues the ids by which the customer's website recognizes contacts. They are
// credentials.
type VisitorIDs interface {
	// Current returns the contact's visitor id, "" if it has none.
	Current(ctx context.Context, orgID, contactID string) (string, error)
	// Open returns the visitor id of a contact that is stored in the sealed form.
	Open(orgID, contactID string, sealed []byte) (string, error)
	// Issue returns the contact's visitor id, and creates one if there is none. It runs in
	// the transaction of a write that locks the contact. Revoke deletes the id.
	Issue(ctx context.Context, orgID, contactID string, now time.Time) (string, error)
	Revoke(ctx context.Context, orgID, contactID string) error
}

// Contacts implements the operations of this package. Code that several operations share is
// in [writer] and [consentReader], which have the same Config.
type Contacts struct {
	Config
}

// New returns a Contacts.
func New(cfg Config) *Contacts { return &Contacts{cfg} }

func (cs *Contacts) writer() writer { return writer{&cs.Config} }

func (c *Config) consents() consentReader { return consentReader{c} }

// reportChanged calls Config.OnChange with the id of one contact. It does nothing if
// OnChange is nil.
func (c *Config) reportChanged(ctx context.Context, orgID, contactID string) error {
	if c.OnChange == nil {
		return nil
	}
	return c.OnChange(ctx, orgID, []string{contactID})
}

// Operations returns the operations of this package in the order of the documentation.
// SetListMembership is not among them: the documentation lists it after the bulk writes.
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
