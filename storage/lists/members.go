package lists

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
)

// MemberStore stores the members of static lists, and reads the membership log.
type MemberStore struct{ db *engine.DB }

var _ lists.MemberStore = MemberStore{}

// NewMemberStore returns the store on the database.
func NewMemberStore(db *engine.DB) MemberStore { return MemberStore{db} }

var (
	// contactLists selects the lists of a contact, archived ones too, through the index
	// list_members_by_contact.
	contactLists = engine.RegisterPoint("lists of a contact", `
		SELECT l.id, l.key, l.name FROM list_members AS m
		JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
		WHERE m.org_id = $1 AND m.contact_id = $2 ORDER BY l.key`)
	// leaveLists deletes the contact's list memberships, except those of the lists in $3. It
	// returns the ids of the lists that the contact left, for the membership log.
	leaveLists = engine.Register("leave lists", `
		DELETE FROM list_members WHERE org_id = $1 AND contact_id = $2
		AND list_id NOT IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING list_id`)
	// leaveNamedLists deletes the contact's memberships of the lists in $3.
	leaveNamedLists = engine.Register("leave named lists", `
		DELETE FROM list_members WHERE org_id = $1 AND contact_id = $2
		AND list_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING list_id`)
	// joinLists adds the contact to lists. It skips a list that does not exist in the
	// organization, and adds nothing if the contact does not exist. If a list is being
	// deleted concurrently, it waits and then skips that list. An insert without the joins
	// would violate the foreign key.
	joinLists = engine.Register("join lists", `
		INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT l.org_id, l.id, c.id, CAST($1 AS bigint) FROM lists AS l
		JOIN contacts AS c ON c.org_id = l.org_id AND c.id = $2
		WHERE l.org_id = $3 AND l.id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)
		/*pg FOR KEY SHARE OF l*/
		ON CONFLICT DO NOTHING
		RETURNING list_id`)

	// listMembersPage selects a page of members of a list after the cursor, newest first,
	// through the index list_members_newest.
	listMembersPage = engine.Register("list members page", membership.PageSQL("list_members", "list_id", "added_at"))
	// searchListMembers compares the addresses of all members of the list, in the order of
	// the same index.
	searchListMembers = engine.Register("search list members", membership.SearchSQL("list_members", "list_id", "added_at"))
	listMemberByID    = engine.RegisterPoint("list member by id", membership.ByIDSQL("list_members", "list_id"))
	listsSince        = engine.RegisterPoint("lists of a contact with times", membership.SinceSQL("lists", "list_members", "list_id", "added_at"))
	listMemberByEmail = engine.RegisterPoint("list member by email", membership.ByEmailSQL("list_members", "list_id"))
)

func (s MemberStore) ContactLists(ctx context.Context, orgID, contactID string) ([]lists.Ref, error) {
	return listRefs(ctx, s.db, contactLists, orgID, contactID)
}

func (s MemberStore) ListsSince(ctx context.Context, orgID, contactID string) (map[string]time.Time, error) {
	return membership.Since(ctx, s.db, listsSince, orgID, contactID)
}

// ReplaceMembership puts the contact on exactly the given lists. It returns the ids of the
// lists that the contact left, and the ids of those that it joined. If the contact stays on
// a list, the time at which it joined does not change.
func (s MemberStore) ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) ([]string, []string, error) {
	return s.changeMembership(ctx, orgID, contactID, func(ctx context.Context) ([]string, []string, error) {
		leftLists, err := s.leave(ctx, leaveLists, orgID, contactID, listIDs)
		if err != nil {
			return nil, nil, err
		}
		joinedLists, err := s.join(ctx, orgID, contactID, listIDs, at)
		return leftLists, joinedLists, err
	}, at)
}

// ChangeMembership removes the contact from the lists in leaves and adds it to those in joins. Its
// other lists stay, also those that a concurrent call has added.
func (s MemberStore) ChangeMembership(ctx context.Context, orgID, contactID string, joins, leaves []string, at time.Time) ([]string, []string, error) {
	return s.changeMembership(ctx, orgID, contactID, func(ctx context.Context) ([]string, []string, error) {
		var leftLists []string
		if len(leaves) > 0 {
			var err error
			if leftLists, err = s.leave(ctx, leaveNamedLists, orgID, contactID, leaves); err != nil {
				return nil, nil, err
			}
		}
		joinedLists, err := s.join(ctx, orgID, contactID, joins, at)
		return leftLists, joinedLists, err
	}, at)
}

// changeMembership runs change in a transaction and writes its result, the lists that the contact
// left and joined, to the membership log.
func (s MemberStore) changeMembership(
	ctx context.Context, orgID, contactID string, change func(context.Context) (leftLists, joinedLists []string, err error), at time.Time,
) (leftLists, joinedLists []string, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		var err error
		if leftLists, joinedLists, err = change(ctx); err != nil {
			return err
		}
		slices.Sort(leftLists)
		slices.Sort(joinedLists)
		return logLists(ctx, s.db, orgID, contactID, leftLists, joinedLists, at)
	})
	if err != nil {
		return nil, nil, err
	}
	return leftLists, joinedLists, nil
}

// leave runs a statement that removes the contact from lists, and returns the ids of these lists.
func (s MemberStore) leave(ctx context.Context, statement *engine.Statement, orgID, contactID string, listIDs []string) ([]string, error) {
	parameter, err := engine.JSONParameter(listIDs)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, statement, orgID, contactID, parameter)
}

// join adds the contact to lists and returns the ids of those that it was not on.
func (s MemberStore) join(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) ([]string, error) {
	if len(listIDs) == 0 {
		return nil, nil
	}
	parameter, err := engine.JSONParameter(listIDs)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, joinLists, engine.At(at), contactID, orgID, parameter)
}

// logLists writes to the membership log which lists a contact left and joined.
func logLists(ctx context.Context, db *engine.DB, orgID, contactID string, leftLists, joinedLists []string, at time.Time) error {
	of := func(lists []string) []membership.InSet {
		all := make([]membership.InSet, len(lists))
		for i, id := range lists {
			all[i] = membership.InSet{Contact: contactID, Set: id}
		}
		return all
	}
	return membership.Log(ctx, db, orgID, string(lists.ListSet), of(leftLists), of(joinedLists), at)
}

func (s MemberStore) ListMembers(ctx context.Context, orgID, listID string, after *core.After, limit int) ([]lists.Member, error) {
	return membership.Page(ctx, s.db, listMembersPage, orgID, listID, after, limit, memberOf)
}

func (s MemberStore) SearchListMembers(ctx context.Context, orgID, listID, part string, after *core.After, limit int) ([]lists.Member, error) {
	return membership.Page(ctx, s.db, searchListMembers, orgID, listID, after, limit, memberOf, engine.SearchPattern(part))
}

// memberOf converts a row to a lists.Member.
func memberOf(r membership.Member) lists.Member {
	return lists.Member{ContactID: r.ContactID, Email: r.Email, Mailable: r.Mailable, AddedAt: r.Since.Time()}
}

func (s MemberStore) IsListMember(ctx context.Context, orgID, listID, contact string) (bool, error) {
	return membership.Contains(ctx, s.db, listMemberByID, listMemberByEmail, orgID, listID, contact, core.EmailKey(contact))
}
