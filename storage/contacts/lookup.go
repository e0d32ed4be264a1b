package contacts

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// lookupSQL returns the statement that reads one contact by the given column, with its lists
// and details, as one row. The columns after those of the contact are the fields of lookup.
// Several statements, or a row for each list and detail, take two to three times as long.
//
// To count segments, it looks up the membership in each segment of the organization by
// primary key. If it began with segment_members, SQLite would read all members of all
// segments.
func lookupSQL(by string) string {
	return `
	SELECT ` + ColumnsSQL("c.") + `,
		(SELECT ` + packedSQL("l.id", "l.key", "l.name") + ` FROM list_members AS m
			JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id WHERE m.org_id = c.org_id AND m.contact_id = c.id) AS lists,
		(SELECT ` + packedSQL("e.name", "e.present", "e.type") + ` FROM (` + slots.ExceptionsSQL + `) AS e) AS exceptions,
		(SELECT p.said FROM contact_pushes AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id) AS pending,
		(SELECT v.sealed FROM visitor_ids AS v WHERE v.org_id = c.org_id AND v.contact_id = c.id) AS visitor,
		(SELECT count(*) FROM segments AS g WHERE g.org_id = c.org_id AND g.status <> 'archived' AND EXISTS (
			SELECT 1 FROM segment_members AS m WHERE m.org_id = c.org_id AND m.segment_id = g.id AND m.contact_id = c.id)) AS segments,
		EXISTS (SELECT 1 FROM suppressed_addresses AS s WHERE s.org_id = c.org_id AND s.email_key = c.email_key) AS suppressed
	FROM contacts AS c WHERE c.org_id = $1 AND c.` + by + ` = $2`
}

var (
	// lookUpByEmail, lookUpByExternalID and lookUpByID read one contact with its details.
	lookUpByEmail      = engine.RegisterPoint("look up contact by email", lookupSQL(`email_key`))
	lookUpByExternalID = engine.RegisterPoint("look up contact by external id", lookupSQL(`external_id`))
	lookUpByID         = engine.RegisterPoint("look up contact by id", lookupSQL(`id`))
)

func (s Store) LookUp(ctx context.Context, orgID string, k contacts.Key) (contacts.Contact, contacts.Details, error) {
	by, key := lookUpByID, k.ID
	switch {
	case k.Email != "":
		by, key = lookUpByEmail, contacts.EmailKey(k.Email)
	case k.ExternalID != "":
		by, key = lookUpByExternalID, k.ExternalID
	}
	read, err := s.lookUp(ctx, by, orgID, key)
	if err != nil {
		return contacts.Contact{}, contacts.Details{}, err
	}
	contact, err := read.contact()
	return contact, read.details, err
}

// lookUp runs a statement of [lookupSQL]. It fails with NotFound if there is no such contact.
func (s Store) lookUp(ctx context.Context, by *engine.Statement, orgID, key string) (*reading, error) {
	var found lookup
	err := s.db.Retry(ctx, func() error {
		found = lookup{}
		return s.db.Each(ctx, by, []any{orgID, key}, func(rows *sqlx.Rows) error { return rows.Scan(found.targets()...) })
	})
	if err != nil {
		return nil, err
	}
	if found.contact.ID == "" {
		return nil, core.NotFound("contact")
	}
	return found.reading()
}

// lookupDetails is the number of columns of [lookupSQL] after those of the contact.
const lookupDetails = 6

// lookup is the row of [lookupSQL].
type lookup struct {
	contact           Row
	lists, exceptions sql.NullString // packed; see packedSQL
	pending           sql.NullString
	visitor           []byte
	segments          int
	suppressed        bool
}

func (l *lookup) targets() []any {
	return append(l.contact.targets(), &l.lists, &l.exceptions, &l.pending, &l.visitor, &l.segments, &l.suppressed)
}

// reading decodes the columns with details.
func (l *lookup) reading() (*reading, error) {
	read := &reading{row: l.contact, lists: []lists.Ref{}, details: contacts.Details{SealedVisitorID: l.visitor, Segments: l.segments, Suppressed: l.suppressed}}
	err := unpack(l.lists.String, func(v [3]string) { read.lists = append(read.lists, lists.Ref{ID: v[0], Key: v[1], Name: v[2]}) })
	if err != nil {
		return nil, fmt.Errorf("storage: lists of contact %s: %w", l.contact.ID, err)
	}
	err = unpack(l.exceptions.String, func(v [3]string) {
		read.exceptions = append(read.exceptions, attributes.Exception{Name: v[0], Present: v[1], Type: attributes.Type(v[2])})
	})
	if err != nil {
		return nil, fmt.Errorf("storage: attribute exceptions: %w", err)
	}
	if l.pending.Valid {
		pending, err := DecodePendingConsent(l.pending.String)
		if err != nil {
			return nil, fmt.Errorf("storage: pending consent of contact %s: %w", l.contact.ID, err)
		}
		read.details.Pending = &pending
	}
	return read, nil
}
