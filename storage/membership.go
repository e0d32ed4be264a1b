package storage

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
)

var (
	contactLists = registerPoint("lists of a contact", `
		SELECT l.id, l.key, l.name FROM list_members AS m
		JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
		WHERE m.org_id = $1 AND m.contact_id = $2 ORDER BY l.key`)
	leaveLists = register("leave lists", `
		DELETE FROM list_members WHERE org_id = $1 AND contact_id = $2
		AND list_id NOT IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING list_id`)
	// Joining goes through the rows of both sides, so that neither a list nor a
	// contact of another organization can be joined.
	joinLists = register("join lists", `
		INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT l.org_id, l.id, c.id, CAST($1 AS bigint) FROM lists AS l
		JOIN contacts AS c ON c.org_id = l.org_id AND c.id = $2
		WHERE l.org_id = $3 AND l.id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)
		ON CONFLICT DO NOTHING
		RETURNING list_id`)

	listMembersPage = register("list members page", `
		SELECT m.contact_id, c.email, m.added_at FROM list_members AS m
		JOIN contacts AS c ON c.org_id = m.org_id AND c.id = m.contact_id
		WHERE m.org_id = $1 AND m.list_id = $2 AND (m.added_at, m.contact_id) < ($3, $4)
		ORDER BY m.added_at DESC, m.contact_id DESC LIMIT $5`)
	listMemberByID = registerPoint("list member by id", `
		SELECT 1 FROM list_members WHERE org_id = $1 AND list_id = $2 AND contact_id = $3`)
	listMemberByEmail = registerPoint("list member by email", `
		SELECT 1 FROM contacts AS c
		JOIN list_members AS m ON m.org_id = c.org_id AND m.contact_id = c.id
		WHERE c.org_id = $1 AND m.list_id = $2 AND c.email_key = $3`)

	logTransitions = register("log transitions", `
		INSERT INTO membership_log (org_id, occurred_at, id, set_kind, set_id, contact_id, entered)
		SELECT $1, CAST($2 AS bigint), j.value ->> 'id', j.value ->> 'kind', j.value ->> 'set', j.value ->> 'contact',
			CAST(j.value ->> 'entered' AS boolean)
		FROM json_each(CAST($3 AS text)) AS j`)
	transitionsPage = register("transitions page", `
		SELECT occurred_at, id, set_kind, set_id, contact_id, entered FROM membership_log
		WHERE org_id = $1 AND (occurred_at, id) > ($2, $3)
		ORDER BY occurred_at, id LIMIT $4`)
)

func (s audienceStore) ContactLists(ctx context.Context, orgID, contactID string) ([]audience.ListRef, error) {
	return s.listRefs(ctx, contactLists, orgID, contactID)
}

func (s audienceStore) ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) ([]string, []string, error) {
	parameter, err := jsonParameter(listIDs)
	if err != nil {
		return nil, nil, err
	}
	var left, joined []string
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if left, err = values[string](ctx, s.db, leaveLists, orgID, contactID, parameter); err != nil {
			return err
		}
		if joined, err = values[string](ctx, s.db, joinLists, At(at), contactID, orgID, parameter); err != nil {
			return err
		}
		slices.Sort(left)
		slices.Sort(joined)
		return s.logLists(ctx, orgID, contactID, left, joined, at)
	})
	if err != nil {
		return nil, nil, err
	}
	return left, joined, nil
}

// loggedTransition is an element of the parameter of logTransitions.
type loggedTransition struct {
	ID      string           `json:"id"`
	Kind    audience.SetKind `json:"kind"`
	Set     string           `json:"set"`
	Contact string           `json:"contact"`
	Entered bool             `json:"entered"`
}

// logLists writes what a contact left and joined to the membership log.
func (s audienceStore) logLists(ctx context.Context, orgID, contactID string, left, joined []string, at time.Time) error {
	if len(left)+len(joined) == 0 {
		return nil
	}
	lines := make([]loggedTransition, 0, len(left)+len(joined))
	for _, id := range left {
		lines = append(lines, loggedTransition{core.NewID(), audience.ListSet, id, contactID, false})
	}
	for _, id := range joined {
		lines = append(lines, loggedTransition{core.NewID(), audience.ListSet, id, contactID, true})
	}
	parameter, err := jsonParameter(lines)
	if err != nil {
		return err
	}
	_, err = s.db.exec(ctx, logTransitions, orgID, At(at), parameter)
	return err
}

type listMemberRow struct {
	ContactID string `db:"contact_id"`
	Email     string `db:"email"`
	AddedAt   Time   `db:"added_at"`
}

func (s audienceStore) ListMembers(ctx context.Context, orgID, listID string, after *core.After, limit int) ([]audience.ListMember, error) {
	added, id := start(after)
	rows, err := list[listMemberRow](ctx, s.db, listMembersPage, orgID, listID, added, id, limit)
	if err != nil {
		return nil, err
	}
	members := make([]audience.ListMember, len(rows))
	for i, r := range rows {
		members[i] = audience.ListMember{ContactID: r.ContactID, Email: r.Email, AddedAt: r.AddedAt.Time()}
	}
	return members, nil
}

func (s audienceStore) IsListMember(ctx context.Context, orgID, listID, contact string) (bool, error) {
	by, key := listMemberByEmail, audience.EmailKey(contact)
	if core.IsID(contact) {
		by, key = listMemberByID, contact
	}
	found, err := values[int](ctx, s.db, by, orgID, listID, key)
	return len(found) > 0, err
}

type transitionRow struct {
	OccurredAt Time             `db:"occurred_at"`
	ID         string           `db:"id"`
	SetKind    audience.SetKind `db:"set_kind"`
	SetID      string           `db:"set_id"`
	ContactID  string           `db:"contact_id"`
	Entered    bool             `db:"entered"`
}

func (s audienceStore) MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]audience.Transition, error) {
	var at Time
	var id string
	if after != nil {
		at, id = At(after.At), after.ID
	}
	rows, err := list[transitionRow](ctx, s.db, transitionsPage, orgID, at, id, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]audience.Transition, len(rows))
	for i, r := range rows {
		lines[i] = audience.Transition{
			ID: r.ID, At: r.OccurredAt.Time(), Kind: r.SetKind, SetID: r.SetID, ContactID: r.ContactID, Entered: r.Entered,
		}
	}
	return lines, nil
}
