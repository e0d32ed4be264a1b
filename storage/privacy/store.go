package privacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store is [privacy.Store] and [privacy.TombstoneStore].
type Store struct{ db *engine.DB }

var (
	_ privacy.Store          = Store{}
	_ privacy.TombstoneStore = Store{}
)

// New returns the store on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	personByKey = engine.RegisterPoint("person by address", `
		SELECT c.id, c.unsubscribe_all OR EXISTS (
			SELECT 1 FROM contact_topics AS t WHERE t.org_id = c.org_id AND t.contact_id = c.id AND t.subscription = 'OPT_OUT'
		) AS opted_out FROM contacts AS c WHERE c.org_id = $1 AND c.email_key = $2`)
	undeliverableReason = engine.RegisterPoint("reason of an undeliverable address", `
		SELECT reason FROM undeliverable WHERE org_id = $1 AND email_key = $2 AND status = 'listed'`)
	leaveSegments = engine.Register("erased contact leaves segments", `
		UPDATE segments SET member_count = member_count - 1 WHERE org_id = $1 AND id IN (
			SELECT segment_id FROM segment_members WHERE org_id = $1 AND contact_id = $2)`)
	// oneSpelling deletes recipients of a message that differ from another one in their
	// spelling alone, because the pseudonym has one spelling.
	oneSpelling = engine.Register("delete other spellings of a recipient", `
		DELETE FROM message_recipients WHERE org_id = $1 AND lower(recipient) = $2 AND EXISTS (
			SELECT 1 FROM message_recipients AS other WHERE other.org_id = message_recipients.org_id
			AND other.message_id = message_recipients.message_id AND other.sent_at = message_recipients.sent_at
			AND lower(other.recipient) = lower(message_recipients.recipient) AND other.recipient < message_recipients.recipient)`)
	handingOver = engine.Register("messages to a person that are handed over", `
		SELECT count(*) AS n FROM handover_recipients WHERE org_id = $1 AND state = 'handing_over' AND (recipient = $2 OR lower(email) = $3)`)
	dropPending = engine.Register("filter pending mail to an erased person", `
		UPDATE handover_recipients SET state = 'filtered', tier = 'account'
		WHERE org_id = $1 AND state = 'pending' AND (recipient = $2 OR lower(email) = $3)`)
	freeInboxBytes = engine.Register("free bytes of erased mail in an inbox", `
		UPDATE inboxes SET stored_bytes = CASE WHEN stored_bytes > $1 THEN stored_bytes - $1 ELSE 0 END WHERE org_id = $2 AND id = $3`)
	deleteUpload = engine.Register("delete upload that mentions a person", `DELETE FROM contact_uploads WHERE org_id = $1 AND id = $2`)
)

// Person implements [privacy.Store].
func (s Store) Person(ctx context.Context, orgID, key string) (privacy.Person, error) {
	type personRow struct {
		ID       string `db:"id"`
		OptedOut bool   `db:"opted_out"`
	}
	p := privacy.Person{Key: key}
	row, err := engine.One[personRow](ctx, s.db, "contact", personByKey, orgID, key)
	if err != nil && !core.IsNotFound(err) {
		return p, err
	}
	p.ContactID, p.OptedOut = row.ID, row.OptedOut
	undeliverable, err := engine.One[reasonRow](ctx, s.db, "undeliverable address", undeliverableReason, orgID, key)
	if err != nil && !core.IsNotFound(err) {
		return p, err
	}
	p.Bounced, p.Complained = undeliverable.Reason == "permanent_bounce", undeliverable.Reason == "complaint"
	return p, nil
}

type reasonRow struct {
	Reason string `db:"reason"`
}

// number runs a statement that counts rows.
func (s Store) number(ctx context.Context, counting *engine.Statement, args ...any) (int, error) {
	type countRow struct {
		N int `db:"n"`
	}
	row, err := engine.One[countRow](ctx, s.db, "rows", counting, args...)
	return row.N, err
}

// Count implements [privacy.Store].
func (s Store) Count(ctx context.Context, search privacy.Search, t privacy.Table) (int, error) {
	q := queries[t.Name]
	if q.count.statement != nil {
		return s.number(ctx, q.count.statement, q.count.args(search)...)
	}
	n := 0
	err := s.inspect(ctx, search, t, func(map[string]any) error { n++; return nil })
	return n, err
}

// inspect calls do with each row of a person, by the names of columns. It checks each row again,
// because a row that SQL finds may only contain a similar address.
func (s Store) inspect(ctx context.Context, search privacy.Search, t privacy.Table, do func(map[string]any) error) error {
	q := queries[t.Name].rows
	return s.db.Each(ctx, q.statement, q.args(search), func(rows *sqlx.Rows) error {
		row := map[string]any{}
		if err := rows.MapScan(row); err != nil {
			return err
		}
		if !belongs(search, t, row) {
			return nil
		}
		return do(row)
	})
}

// belongs reports whether a row is one of the person.
func belongs(search privacy.Search, t privacy.Table, row map[string]any) bool {
	return slices.ContainsFunc(t.Find, func(m privacy.Match) bool {
		value := text(row[m.Column])
		switch m.By {
		case privacy.ByContact:
			return value == contactOf(search.Person)
		case privacy.ByKey:
			return value == search.Person.Key
		case privacy.BySpelling:
			return strings.ToLower(value) == search.Person.Key
		default:
			return search.Mention.Matches(value)
		}
	})
}

// text returns the text of a column; drivers return it as bytes or as a string.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	default:
		return ""
	}
}

// Erase implements [privacy.Store].
func (s Store) Erase(ctx context.Context, search privacy.Search, t privacy.Table) (int, error) {
	switch t.Name {
	case "message_recipients":
		if _, err := s.db.Exec(ctx, oneSpelling, search.OrgID, search.Person.Key); err != nil {
			return 0, err
		}
	case "handover_recipients":
		if _, err := s.db.Exec(ctx, dropPending, search.OrgID, contactOf(search.Person), search.Person.Key); err != nil {
			return 0, err
		}
	}
	q := queries[t.Name]
	if q.erase.statement != nil {
		return s.db.Exec(ctx, q.erase.statement, q.erase.args(search)...)
	}
	var found []map[string]any
	err := s.inspect(ctx, search, t, func(row map[string]any) error {
		for _, m := range t.Find {
			if m.By == privacy.ByBytes {
				delete(row, m.Column) // it can be large, and deleting needs the key alone
			}
		}
		found = append(found, row)
		return nil
	})
	for _, row := range found {
		if err == nil {
			err = s.eraseRow(ctx, search, t, row)
		}
	}
	return len(found), err
}

// eraseRow deletes or rewrites a row.
func (s Store) eraseRow(ctx context.Context, search privacy.Search, t privacy.Table, row map[string]any) error {
	switch t.Name {
	case "contact_upload_chunks":
		_, err := s.db.Exec(ctx, deleteUpload, search.OrgID, text(row["upload_id"]))
		return err
	case "inbox_messages":
		if _, err := s.db.Exec(ctx, freeInboxBytes, row["bytes"], search.OrgID, text(row["inbox_id"])); err != nil {
			return err
		}
	}
	var args []any
	for _, c := range changed(t) {
		value, err := rewritten(search, c, row[c.Name])
		if err != nil {
			return fmt.Errorf("%s of %s: %w", c.Name, t.Name, err)
		}
		args = append(args, value)
	}
	args = append(args, search.OrgID)
	for _, name := range strings.Fields(t.Key) {
		value := row[name]
		if b, ok := value.([]byte); ok {
			value = string(b)
		}
		args = append(args, value)
	}
	_, err := s.db.Exec(ctx, queries[t.Name].eraseRow, args...)
	return err
}

// rewritten returns the new value of a column.
func rewritten(search privacy.Search, c privacy.Column, value any) (any, error) {
	switch {
	case value == nil || c.Change == privacy.Null:
		return nil, nil
	case c.Change.DependsOnValue():
		return search.Mention.Rewritten(c.Change, text(value))
	case c.Change == privacy.PseudonymAddress:
		return search.As.Email, nil
	case c.Change == privacy.PseudonymID && text(value) == search.Person.ContactID:
		return search.As.ID, nil
	case c.Change == privacy.PseudonymID:
		return text(value), nil
	default:
		return "", nil
	}
}

// Leave implements [privacy.Store].
func (s Store) Leave(ctx context.Context, orgID, contactID string) error {
	_, err := s.db.Exec(ctx, leaveSegments, orgID, contactID)
	return err
}

// Scrub implements [privacy.Store].
func (s Store) Scrub(ctx context.Context) error { return s.db.Scrub(ctx) }

// InUse implements [privacy.Store].
func (s Store) InUse(ctx context.Context, search privacy.Search) (privacy.InUse, error) {
	var use privacy.InUse
	var err error
	use.HandingOver, err = s.number(ctx, handingOver, search.OrgID, contactOf(search.Person), search.Person.Key)
	if err != nil {
		return use, err
	}
	for _, t := range privacy.OfRecipients() {
		if t.Name == "received_mail" {
			use.Receiving, err = s.Count(ctx, search, t)
		}
	}
	return use, err
}
