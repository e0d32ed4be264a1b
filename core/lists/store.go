package lists

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores static lists and their members. Every method sees only the given organization
// and takes part in the transaction of its context. Finders of one list fail with
// core.CodeNotFound.
type Store interface {
	// InsertList fails with core.CodeConflict when a list has the key, archived lists
	// included.
	InsertList(ctx context.Context, orgID string, l List) error
	// UpdateList replaces the name and the description of a list found by id.
	UpdateList(ctx context.Context, orgID string, l List) error
	// DeleteList deletes a list found by id, with its members. The membership log stays
	// as it is.
	DeleteList(ctx context.Context, orgID, id string) error
	// List returns a list by UUID, else by key, including archived ones. Inside a
	// transaction it locks the list until the transaction ends.
	List(ctx context.Context, orgID, ref string) (List, error)
	// Lists returns one page of active lists, newest first, with member counts. Query is
	// matched in name and key without regard to case; "" matches all.
	Lists(ctx context.Context, orgID string, f Filter) ([]List, error)
	CountLists(ctx context.Context, orgID, query string) (int, error)
	// ListsByRef returns the active lists with these UUIDs or keys. It omits unknown ones.
	ListsByRef(ctx context.Context, orgID string, refs []string) ([]Ref, error)
}

// MemberStore keeps who is on a static list. Every method sees only the organization given
// and takes part in the transaction of its context.
type MemberStore interface {
	// ContactLists returns the lists that a contact is on, by key.
	ContactLists(ctx context.Context, orgID, contactID string) ([]Ref, error)
	// ReplaceMembership puts the contact on exactly these lists. It returns the ids of
	// those it left and those it joined, and logs each of them.
	ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) (left, joined []string, err error)
	// ListMembers returns one page of the members of a list, newest membership first.
	ListMembers(ctx context.Context, orgID, listID string, after *core.After, limit int) ([]Member, error)
	// IsListMember reports whether a contact is on a list. contact is an id or an address.
	IsListMember(ctx context.Context, orgID, listID, contact string) (bool, error)
	// MembershipLog returns the lines of the log after the given one, oldest first; nil
	// starts at the beginning.
	MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]Transition, error)
}

// Filter narrows a page of lists.
type Filter struct {
	Query string
	After *core.After
	Limit int
}
