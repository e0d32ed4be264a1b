package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ListStore is what the mirror remembers of static lists and of who is on them.
type ListStore interface {
	// InsertList fails with core.CodeConflict when the key is taken, archived lists
	// included.
	InsertList(ctx context.Context, orgID string, l List) error
	// UpdateList replaces the name and the description of a list found by id.
	UpdateList(ctx context.Context, orgID string, l List) error
	// DeleteList removes a list found by id and takes everybody off it. It writes
	// nothing to the membership log and leaves there what is written.
	DeleteList(ctx context.Context, orgID, id string) error
	// List finds a list, archived ones too, by UUID or else by key. Inside a
	// transaction it is locked until the transaction ends.
	List(ctx context.Context, orgID, ref string) (List, error)
	// Lists is one page of active lists, newest first, with member counts. Query
	// is matched in name and key without regard to case; "" matches all.
	Lists(ctx context.Context, orgID string, f ListFilter) ([]List, error)
	CountLists(ctx context.Context, orgID, query string) (int, error)
	// ListsByRef finds active lists by UUID or key. What is not found is left out.
	ListsByRef(ctx context.Context, orgID string, refs []string) ([]ListRef, error)

	// ContactLists are the lists a contact is on, by key.
	ContactLists(ctx context.Context, orgID, contactID string) ([]ListRef, error)
	// ReplaceMembership puts the contact on exactly these lists and returns the
	// ids of those it left and those it joined, each of which is a line of the
	// membership log.
	ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) (left, joined []string, err error)
	// ListMembers is one page of who is on a list, newest on it first.
	ListMembers(ctx context.Context, orgID, listID string, after *core.After, limit int) ([]ListMember, error)
	// IsListMember looks for a contact by id or by address.
	IsListMember(ctx context.Context, orgID, listID, contact string) (bool, error)
	// MembershipLog reads the log from its beginning, or behind a line of it.
	MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]Transition, error)
}

// ListFilter narrows a page of lists.
type ListFilter struct {
	Query string
	After *core.After
	Limit int
}

// ListMember is one contact on a list.
type ListMember struct {
	ContactID string    `json:"contact_id" jsonschema:"format=uuid"`
	Email     string    `json:"email" voice:"untrusted"`
	Mailable  bool      `json:"mailable" jsonschema_description:"Whether mail may be sent to the contact at all."`
	AddedAt   time.Time `json:"added_at"`
}

// SetKind is what kind of set a transition is about.
type SetKind string

// The kinds of sets that contacts enter and leave.
const (
	ListSet    SetKind = "list"
	SegmentSet SetKind = "segment"
)

// Transition is a line of the membership log: a contact entered a set or left it.
type Transition struct {
	ID        string
	At        time.Time
	Kind      SetKind
	SetID     string
	ContactID string
	Entered   bool
}
