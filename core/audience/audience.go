package audience

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Config has the dependencies of an Audience. All fields are required, except those
// whose comment says what nil means.
type Config struct {
	Store      Store
	Transactor core.Transactor
	Account    sending.Account
	// Attributes reads the registry that values of contacts are checked against.
	Attributes AttributeReader
	// Topics reads the mirrored topics, List the account's contact list.
	Topics TopicReader
	List   AccountList
	// Lists turns names into changes of membership, and applies them.
	Lists Memberships
	// Turns serializes the writers of an address. It is shared with the sync.
	Turns *sending.Turns
	// Repairs repairs writes that failed after they had reached the account.
	Repairs Repairer
	// Sealer seals visitor ids.
	Sealer sending.Sealer
	// Orgs lists every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger

	// Queue takes the jobs of bulk writes; with nil they wait for the periodic run.
	Queue jobs.Queue
	// Observe counts the outcomes of rows of bulk writes and of pushes to accounts; nil
	// counts nothing.
	Observe func(what, outcome string, n int)

	// Changed is called in the transaction of a write, with the contacts whose record,
	// consent or lists changed. nil reports nothing.
	Changed func(ctx context.Context, orgID string, contactIDs []string) error
	// Written is called in the transaction of a bulk write, with its caller and the
	// contacts that it changed. The rails report single writes. nil reports nothing.
	Written func(ctx context.Context, orgID, caller string, contactIDs []string) error
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

// TopicReader reads the mirrored topics.
type TopicReader interface {
	// Topics returns the mirrored topics of the organization, by name.
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// AccountList is the sending account's contact list.
type AccountList interface {
	// Topics returns the account's topics by name, nil without an account or a list.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
	// Remembered returns a consent without choices about topics that the account no
	// longer has.
	Remembered(ctx context.Context, orgID string, consent sending.Contact) (sending.Contact, error)
	// OnList runs a write that needs the list. If the account has none, it makes the list
	// and runs the write again, with bare set.
	OnList(ctx context.Context, orgID string, write func(bare bool) error) error
}

// Memberships changes which static lists contacts are on.
type Memberships interface {
	// ExactlyNamed, Directed and AddAndRemove return the change that a caller asks for, nil for
	// none. They fail with core.CodeValidationFailed for names of no list.
	ExactlyNamed(ctx context.Context, orgID, field string, names *lists.Names) (*lists.Change, error)
	Directed(ctx context.Context, orgID string, d *lists.Directive) (*lists.Change, error)
	AddAndRemove(ctx context.Context, orgID, prefix string, joins, leaves []string) (*lists.Change, error)
	// Find returns the lists with these ids or keys. It leaves out names of no list.
	Find(ctx context.Context, orgID string, names []string) ([]lists.Ref, error)
	// ApplyChange and LeaveAll change the membership in the transaction of a write.
	ApplyChange(ctx context.Context, orgID, contactID string, current []lists.Ref, change *lists.Change) ([]lists.Ref, error)
	LeaveAll(ctx context.Context, orgID, contactID string, at time.Time) (int, error)
}

// Repairer repairs writes that failed after they had reached the account.
type Repairer interface {
	// Repair returns the number of repaired writes. It may be repeated.
	Repair(ctx context.Context, orgID string) (int, error)
}

// Audience runs the operations of this package.
type Audience struct {
	Config
}

// New returns an Audience.
func New(cfg Config) *Audience { return &Audience{cfg} }

func (a *Audience) changed(ctx context.Context, orgID string, contactIDs ...string) error {
	if a.Changed == nil || len(contactIDs) == 0 {
		return nil
	}
	return a.Changed(ctx, orgID, contactIDs)
}

// Operations returns the operations of this package, in the order of the catalogue.
func (a *Audience) Operations() []core.Operation {
	return []core.Operation{
		a.contactsLookup(),
		a.contactsList(),
		a.contactsCreate(),
		a.contactsReplace(),
		a.contactsUpdate(),
		a.contactsUpsert(),
		a.contactsUpsertByExternalID(),
		a.contactsArchive(),
		a.contactsArchiveByExternalID(),
		a.contactsIdentify(),
		a.contactsBulk(),
		a.contactsBulkGet(),
		a.contactsSetListMembership(),
	}
}
