package lists

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores static lists. Every method sees only the given organization and takes part
// in the transaction of its context. Methods that find one list fail with core.CodeNotFound
// if there is none.
type Store interface {
	// InsertList stores a new list. It fails with core.CodeConflict if another list, even an
	// archived one, has the same key.
	InsertList(ctx context.Context, orgID string, l List) error
	// UpdateList replaces the name, the description and the update time of the list with the
	// id l.ID.
	UpdateList(ctx context.Context, orgID string, l List) error
	// SetListStatus replaces the status and the update time of the list with the id l.ID.
	SetListStatus(ctx context.Context, orgID string, l List) error
	// DeleteList deletes the list with the id, and its memberships. Entries of the
	// membership log are kept.
	DeleteList(ctx context.Context, orgID, id string) error
	// List returns the list that has ref as its id, else as its key, even if it is archived.
	// Inside a transaction it locks the list until the transaction ends.
	List(ctx context.Context, orgID, ref string) (List, error)
	// Lists returns one page of active lists, newest first, with their numbers of members.
	// f.Query matches a part of the name or the key, ignoring case; "" matches all lists.
	Lists(ctx context.Context, orgID string, f Filter) ([]List, error)
	CountLists(ctx context.Context, orgID, query string) (int, error)
	// ListsByRef returns the active lists with these ids or keys. It skips ids and keys of
	// no list.
	ListsByRef(ctx context.Context, orgID string, refs []string) ([]Ref, error)
}

// MemberStore stores which contacts are on static lists. Every method sees only the given
// organization and takes part in the transaction of its context.
type MemberStore interface {
	// ContactLists returns the lists that a contact is on, sorted by key.
	ContactLists(ctx context.Context, orgID, contactID string) ([]Ref, error)
	// ListsSince returns the times since which a contact is on its lists, by the lists' ids.
	ListsSince(ctx context.Context, orgID, contactID string) (map[string]time.Time, error)
	// ReplaceMembership puts the contact on exactly these lists. It returns the ids of the
	// lists that the contact left and joined, and writes each of them to the membership log.
	ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) (leftLists, joinedLists []string, err error)
	// ChangeMembership removes the contact from the lists in leaves and adds it to those in joins.
	// It skips lists that do not exist. Its results are those of ReplaceMembership.
	ChangeMembership(ctx context.Context, orgID, contactID string, joins, leaves []string, at time.Time) (leftLists, joinedLists []string, err error)
	// ListMembers returns one page of the members of a list, most recently added first.
	ListMembers(ctx context.Context, orgID, listID string, after *core.After, limit int) ([]Member, error)
	// SearchListMembers returns one page of the members whose address contains the text
	// part, ignoring case, most recently added first.
	SearchListMembers(ctx context.Context, orgID, listID, part string, after *core.After, limit int) ([]Member, error)
	// IsListMember reports whether a contact is on a list. contact is the id or the address
	// of the contact.
	IsListMember(ctx context.Context, orgID, listID, contact string) (bool, error)
	// MembershipLog returns entries of the membership log after the position, oldest first.
	// A nil position starts at the beginning.
	MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]Transition, error)
}

// Filter selects a page of static lists.
type Filter struct {
	Query string
	After *core.After
	Limit int
}
