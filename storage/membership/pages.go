package membership

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// IsMailable is the SQL condition that the contact c may get mail: it is active, is not a
// stub, and has no global opt-out.
const IsMailable = `(c.status = 'active' AND NOT c.stub AND NOT c.unsubscribe_all)`

// PageSQL returns the statement for one page of the members of a list or segment, newest
// first. The statement's parameters are the organization, the list or segment, the time and
// contact id of the cursor, and a limit. table is the table of members; set and since are
// its columns with the list or segment, and with the time of entry.
func PageSQL(table, set, since string) string { return pageSQL(table, set, since, "", "$5") }

// SearchSQL returns the statement of [PageSQL] for the members whose address matches the
// LIKE pattern in one more parameter, before the limit.
func SearchSQL(table, set, since string) string {
	return pageSQL(table, set, since, `AND c.email_key LIKE $5 ESCAPE '\'`, "$6")
}

// pageSQL returns the statement of [PageSQL] with another condition on the contact c.
// limit is the parameter of the limit.
func pageSQL(table, set, since, condition, limit string) string {
	return `
		SELECT m.contact_id, c.email, ` + IsMailable + ` AS mailable, m.` + since + ` AS since FROM ` + table + ` AS m
		JOIN contacts AS c ON c.org_id = m.org_id AND c.id = m.contact_id
		WHERE m.org_id = $1 AND m.` + set + ` = $2 AND (m.` + since + `, m.contact_id) < ($3, $4) ` + condition + `
		ORDER BY m.` + since + ` DESC, m.contact_id DESC LIMIT ` + limit
}

// ByIDSQL returns the statement that tests whether a contact is a member. Its parameters
// are the organization, the list or segment, and the contact's id.
func ByIDSQL(table, set string) string {
	return `
		SELECT 1 FROM ` + table + ` WHERE org_id = $1 AND ` + set + ` = $2 AND contact_id = $3`
}

// ByEmailSQL returns the statement that tests whether a contact is a member. Its parameters
// are the organization, the list or segment, and the contact's address in the form of
// core.EmailKey.
func ByEmailSQL(table, set string) string {
	return `
		SELECT 1 FROM contacts AS c
		JOIN ` + table + ` AS m ON m.org_id = c.org_id AND m.contact_id = c.id
		WHERE c.org_id = $1 AND m.` + set + ` = $2 AND c.email_key = $3`
}

// Member is a result row of PageSQL: a member of a list or segment.
type Member struct {
	ContactID string      `db:"contact_id"`
	Email     string      `db:"email"`
	Mailable  bool        `db:"mailable"`
	Since     engine.Time `db:"since"`
}

// Page runs a statement of PageSQL or SearchSQL and returns one page of the members of a
// list or segment. It converts each result row with the function member. more has the
// parameters of the statement before the limit.
func Page[T any](
	ctx context.Context, db *engine.DB, page *engine.Statement, orgID, setID string, after *core.After, limit int, member func(Member) T, more ...any,
) ([]T, error) {
	since, id := engine.PageStart(after)
	return engine.ListAs(ctx, db, member, page, append(append([]any{orgID, setID, since, id}, more...), limit)...)
}

// Contains reports whether a contact is a member of a list or segment. The parameter
// contact is a contact id or an address. emailKey is that address in the form of
// core.EmailKey.
func Contains(ctx context.Context, db *engine.DB, byID, byEmail *engine.Statement, orgID, setID, contact, emailKey string) (bool, error) {
	by, key := byEmail, emailKey
	if core.IsID(contact) {
		by, key = byID, contact
	}
	found, err := engine.Values[int](ctx, db, by, orgID, setID, key)
	return len(found) > 0, err
}
