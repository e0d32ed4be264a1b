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

// foundSQL returns the statement that reads one contact by the given column, as one row. The
// columns after those of the contact are the fields of found: the contact's lists, the attribute
// names whose values reads must rename, convert or hide, and consent that waits to be written to
// the sending account. Several statements, or a row for each list and detail, take two to three
// times as long. more are further columns.
func foundSQL(by, more string) string {
	return `
	SELECT ` + ColumnsSQL("c.") + `,
		(SELECT ` + packedSQL("l.id", "l.key", "l.name") + ` FROM list_members AS m
			JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id WHERE m.org_id = c.org_id AND m.contact_id = c.id) AS lists,
		(SELECT ` + packedSQL("e.name", "e.present", "e.type") + ` FROM (` + slots.ExceptionsSQL + `) AS e) AS exceptions,
		(SELECT p.said FROM contact_pushes AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id) AS pending` + more + `
	FROM contacts AS c WHERE c.org_id = $1 AND c.` + by + ` = $2`
}

// lookupDetails are the columns of a lookup after those of [foundSQL].
//
// To count segments, it looks up the membership in each segment of the organization by
// primary key. If it began with segment_members, SQLite would read all members of all
// segments.
const lookupDetails = `,
		(SELECT v.sealed FROM visitor_ids AS v WHERE v.org_id = c.org_id AND v.contact_id = c.id) AS visitor,
		(SELECT count(*) FROM segments AS g WHERE g.org_id = c.org_id AND g.status <> 'archived' AND EXISTS (
			SELECT 1 FROM segment_members AS m WHERE m.org_id = c.org_id AND m.segment_id = g.id AND m.contact_id = c.id)) AS segments,
		EXISTS (SELECT 1 FROM suppressed_addresses AS s WHERE s.org_id = c.org_id AND s.email_key = c.email_key) AS suppressed`

var (
	// contactByEmail, contactByExternalID and contactByID read one contact. They serve
	// nearly every API call. Each reads through the primary key or a unique key of contacts.
	contactByEmail      = engine.RegisterPoint("contact by email", foundSQL(`email_key`, ``))
	contactByExternalID = engine.RegisterPoint("contact by external id", foundSQL(`external_id`, ``))
	contactByID         = engine.RegisterPoint("contact by id", foundSQL(`id`, ``))

	// lookUpByEmail, lookUpByExternalID and lookUpByID read one contact with its details.
	lookUpByEmail      = engine.RegisterPoint("look up contact by email", foundSQL(`email_key`, lookupDetails))
	lookUpByExternalID = engine.RegisterPoint("look up contact by external id", foundSQL(`external_id`, lookupDetails))
	lookUpByID         = engine.RegisterPoint("look up contact by id", foundSQL(`id`, lookupDetails))
)

func (s Store) LookUp(ctx context.Context, orgID string, k contacts.Key) (contacts.Contact, contacts.Details, error) {
	by, key := lookUpByID, k.ID
	switch {
	case k.Email != "":
		by, key = lookUpByEmail, contacts.EmailKey(k.Email)
	case k.ExternalID != "":
		by, key = lookUpByExternalID, k.ExternalID
	}
	var details contacts.Details
	contact, err := s.find(ctx, by, orgID, key, &details.SealedVisitorID, &details.Segments, &details.Suppressed)
	return contact, details, err
}

// find runs a statement of [foundSQL]. more are the targets of further columns. It fails with
// NotFound if there is no such contact.
func (s Store) find(ctx context.Context, by *engine.Statement, orgID, key string, more ...any) (contacts.Contact, error) {
	var row found
	err := s.db.Retry(ctx, func() error {
		row = found{}
		return s.db.Each(ctx, by, []any{orgID, key}, func(rows *sqlx.Rows) error { return rows.Scan(append(row.targets(), more...)...) })
	})
	if err == nil && row.contact.ID == "" {
		err = core.NotFound("contact")
	}
	if err != nil {
		return contacts.Contact{}, err
	}
	return row.Contact()
}

// found is the row of [foundSQL].
type found struct {
	contact           Row
	lists, exceptions sql.NullString // packed; see packedSQL
	pending           sql.NullString
}

// furtherColumns is the greatest number of columns after those of the contact.
const furtherColumns = 6

func (f *found) targets() []any {
	return append(f.contact.targets(), &f.lists, &f.exceptions, &f.pending)
}

// Contact decodes the row. Its values are those that reads return.
func (f *found) Contact() (contacts.Contact, error) {
	on := []lists.Ref{}
	err := unpack(f.lists.String, func(v [3]string) { on = append(on, lists.Ref{ID: v[0], Key: v[1], Name: v[2]}) })
	if err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: lists of contact %s: %w", f.contact.ID, err)
	}
	var exceptions []attributes.Exception
	err = unpack(f.exceptions.String, func(v [3]string) {
		exceptions = append(exceptions, attributes.Exception{Name: v[0], Present: v[1], Type: attributes.Type(v[2])})
	})
	if err != nil {
		return contacts.Contact{}, fmt.Errorf("storage: attribute exceptions: %w", err)
	}
	contact, err := contactOn(f.contact, on)
	if err != nil {
		return contact, err
	}
	contact.Attributes, contact.Hidden = attributes.Show(contact.Attributes, exceptions)
	if !f.pending.Valid {
		return contact, nil
	}
	pending, err := DecodePendingConsent(f.pending.String)
	contact.Pending = &pending
	return contact, err
}
