package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Members of a static list and of a segment are kept apart and read alike.

// setMembersPage is the statement of one page of a set's members, newest first. It takes
// the organization, the set, a place and a limit.
func setMembersPage(table, set, since string) string {
	return `
		SELECT m.contact_id, c.email, ` + isMailable + ` AS mailable, m.` + since + ` AS since FROM ` + table + ` AS m
		JOIN contacts AS c ON c.org_id = m.org_id AND c.id = m.contact_id
		WHERE m.org_id = $1 AND m.` + set + ` = $2 AND (m.` + since + `, m.contact_id) < ($3, $4)
		ORDER BY m.` + since + ` DESC, m.contact_id DESC LIMIT $5`
}

// setMemberByID and setMemberByEmail take the organization, the set and the contact.
func setMemberByID(table, set string) string {
	return `
		SELECT 1 FROM ` + table + ` WHERE org_id = $1 AND ` + set + ` = $2 AND contact_id = $3`
}

func setMemberByEmail(table, set string) string {
	return `
		SELECT 1 FROM contacts AS c
		JOIN ` + table + ` AS m ON m.org_id = c.org_id AND m.contact_id = c.id
		WHERE c.org_id = $1 AND m.` + set + ` = $2 AND c.email_key = $3`
}

type setMemberRow struct {
	ContactID string      `db:"contact_id"`
	Email     string      `db:"email"`
	Mailable  bool        `db:"mailable"`
	Since     engine.Time `db:"since"`
}

// setMembers is one page of a set's members, each made of its row.
func setMembers[T any](
	ctx context.Context, db *engine.DB, page *engine.Statement, orgID, setID string, after *core.After, limit int, member func(setMemberRow) T,
) ([]T, error) {
	since, id := engine.PageStart(after)
	rows, err := engine.List[setMemberRow](ctx, db, page, orgID, setID, since, id, limit)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(rows))
	for i, r := range rows {
		all[i] = member(r)
	}
	return all, nil
}

// isSetMember finds the contact by its id or else by its address.
func isSetMember(ctx context.Context, db *engine.DB, byID, byEmail *engine.Statement, orgID, setID, contact string) (bool, error) {
	by, key := byEmail, audience.EmailKey(contact)
	if core.IsID(contact) {
		by, key = byID, contact
	}
	found, err := engine.Values[int](ctx, db, by, orgID, setID, key)
	return len(found) > 0, err
}
