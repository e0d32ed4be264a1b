package contacts

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// The statuses that mark the result rows of [lookupSQL] with details of the contact. Each row
// has its value in the column attributes.
const (
	pendingKind    = "pending"
	visitorKind    = "visitor"
	segmentsKind   = "segments"
	suppressedKind = "suppressed"
)

// lookupSQL returns the statement that reads one contact by the given column, with its lists
// and details. Each kind of detail is a row of its own, as in contactWithLists. Five
// statements would take three times as long.
//
// To count segments, it looks up the membership in each segment of the organization by
// primary key. If it began with segment_members, SQLite would read all members of all
// segments.
func lookupSQL(by string) string {
	detail := func(kind, value, from string) string {
		return `
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"status": "'" + kind + "'", "attributes": value}) + `
	FROM (SELECT org_id, id, email_key FROM contacts WHERE org_id = $1 AND ` + by + ` = $2) AS c` + from
	}
	return contactWithLists(by, ``) +
		detail(pendingKind, `p.said`, `
	JOIN contact_pushes AS p ON p.org_id = c.org_id AND p.contact_id = c.id`) +
		detail(visitorKind, `encode(v.sealed, 'hex')`, `
	JOIN visitor_ids AS v ON v.org_id = c.org_id AND v.contact_id = c.id`) +
		detail(segmentsKind, `CAST((SELECT count(*) FROM segments AS g WHERE g.org_id = $1 AND g.status <> 'archived'
		AND EXISTS (SELECT 1 FROM segment_members AS m WHERE m.org_id = $1 AND m.segment_id = g.id AND m.contact_id = c.id)) AS text)`, ``) +
		detail(suppressedKind, `''`, `
	JOIN suppressed_addresses AS s ON s.org_id = c.org_id AND s.email_key = c.email_key`)
}

var (
	// lookUpByEmail, lookUpByExternalID and lookUpByID read one contact with its details.
	lookUpByEmail      = engine.RegisterPoint("look up contact by email", lookupSQL(`email_key`))
	lookUpByExternalID = engine.RegisterPoint("look up contact by external id", lookupSQL(`external_id`))
	lookUpByID         = engine.RegisterPoint("look up contact by id", lookupSQL(`id`))
)

// PostgreSQL has the function encode. The only format of SQLite is hexadecimal.
func init() {
	engine.RegisterFunction("encode", 2, func(args []driver.Value) driver.Value {
		value, ok := args[0].([]byte)
		if !ok {
			return nil
		}
		return hex.EncodeToString(value)
	})
}

func (s Store) LookUp(ctx context.Context, orgID string, k contacts.Key) (contacts.Contact, contacts.Details, error) {
	by, key := lookUpByID, k.ID
	switch {
	case k.Email != "":
		by, key = lookUpByEmail, contacts.EmailKey(k.Email)
	case k.ExternalID != "":
		by, key = lookUpByExternalID, k.ExternalID
	}
	read, err := s.read(ctx, by, orgID, key)
	if err != nil {
		return contacts.Contact{}, contacts.Details{}, err
	}
	contact, err := read.contact()
	return contact, read.details, err
}

// addDetail adds the detail that a result row of [lookupSQL] has.
func (r *reading) addDetail(row Row) error {
	var err error
	switch string(row.Status) {
	case pendingKind:
		pending, decoded := DecodePendingConsent(row.Attributes)
		r.details.Pending, err = &pending, decoded
	case visitorKind:
		r.details.SealedVisitorID, err = hex.DecodeString(row.Attributes)
	case segmentsKind:
		r.details.Segments, err = strconv.Atoi(row.Attributes)
	case suppressedKind:
		r.details.Suppressed = true
	}
	if err != nil {
		return fmt.Errorf("storage: detail %s of a contact: %w", row.Status, err)
	}
	return nil
}
