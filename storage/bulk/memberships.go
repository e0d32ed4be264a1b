package bulk

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/lists"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
)

var (
	// leaveManyLists deletes memberships of the contacts in $2, except those in $3. $3 is a
	// JSON array with one text for each membership: the contact id, a space and the list id.
	// json_each returns one value for each element, so both ids are in one text. Ids contain
	// no space.
	leaveManyLists = engine.Register("leave lists of many", `
		DELETE FROM list_members WHERE (org_id, contact_id) IN `+contactstore.ManySQL(`$1`, `$2`)+`
		AND contact_id || ' ' || list_id NOT IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING contact_id, list_id AS set_id`)
	// joinManyLists adds contacts to active lists. It locks the lists, so that they cannot
	// be deleted before the commit. Other transactions can still add members.
	joinManyLists = engine.Register("join lists of many", `
		INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT l.org_id, l.id, v ->> 'contact', CAST($1 AS bigint)
		FROM `+engine.ParameterRows(`$2`)+`
		JOIN lists AS l ON l.org_id = $3 AND l.id = v ->> 'set' AND l.status = 'active'
		/*pg FOR KEY SHARE OF l*/
		ON CONFLICT DO NOTHING
		RETURNING contact_id, list_id AS set_id`)
)

// joinOneList adds active contacts to a list. The foreign key refuses a list that is deleted
// at the same time.
var joinOneList = engine.Register("join one list", `
	INSERT INTO list_members (org_id, list_id, contact_id, added_at)
	SELECT c.org_id, j.value ->> 'set', c.id, CAST(j.value ->> 'at' AS bigint)
	FROM `+engine.RowsNamed("contacts", engine.Named{Column: "id", Equals: "j.value ->> 'contact'"})+` AND c.status = 'active'
	ON CONFLICT DO NOTHING
	RETURNING contact_id, list_id AS set_id`)

// joiningRow is an element of the JSON parameter of joinOneList.
type joiningRow struct {
	membership.InSet
	At engine.Time `json:"at"`
}

// JoinList implements the method of bulk.ContactStore. It inserts the contacts in the order
// of their ids, so that concurrent calls lock rows in the same order.
func (s ContactStore) JoinList(ctx context.Context, orgID, listID string, contactIDs []string, at time.Time) ([]string, error) {
	var rows []joiningRow
	for _, id := range slices.Compact(slices.Sorted(slices.Values(contactIDs))) {
		rows = append(rows, joiningRow{membership.InSet{Contact: id, Set: listID}, engine.At(at)})
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	var joined []membership.InSet
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if joined, err = engine.List[membership.InSet](ctx, s.db, joinOneList, parameter, orgID); err != nil {
			return err
		}
		return membership.Log(ctx, s.db, orgID, string(lists.ListSet), nil, joined, at)
	})
	contacts := make([]string, len(joined))
	for i, member := range joined {
		contacts[i] = member.Contact
	}
	return contacts, err
}

// replaceMemberships puts each contact on exactly the given lists, and logs which lists it
// left and joined. The keys of memberships are contact ids; the values are list ids.
func replaceMemberships(ctx context.Context, db *engine.DB, orgID string, memberships map[string][]string, at time.Time) error {
	if len(memberships) == 0 {
		return nil
	}
	var kept []string
	var members []membership.InSet
	for contact, ids := range memberships {
		for _, id := range ids {
			kept = append(kept, contact+" "+id)
			members = append(members, membership.InSet{Contact: contact, Set: id})
		}
	}
	who, err := engine.JSONParameter(slices.Sorted(maps.Keys(memberships)))
	if err != nil {
		return err
	}
	stay, err := engine.JSONParameter(kept)
	if err != nil {
		return err
	}
	parameter, err := engine.JSONParameter(members)
	if err != nil {
		return err
	}
	leftLists, err := engine.List[membership.InSet](ctx, db, leaveManyLists, orgID, who, stay)
	if err != nil {
		return err
	}
	joinedLists, err := engine.List[membership.InSet](ctx, db, joinManyLists, engine.At(at), parameter, orgID)
	if err != nil {
		return err
	}
	return membership.Log(ctx, db, orgID, string(lists.ListSet), leftLists, joinedLists, at)
}
