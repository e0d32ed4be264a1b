package bulk

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// contactsNamed returns a statement that selects many contacts by values of the given
// column, each through the index of the column. The LATERAL subquery forces PostgreSQL to
// use the index. Without statistics PostgreSQL assumes that the organization is small, and
// would read all its contacts for each chunk of an import. The parameter is sorted, so that
// concurrent transactions lock contacts in the same order.
//
// Only for shells (contacts that only a sync has created), the statement tests whether the
// contact has activities, through an index. It uses LIMIT instead of EXISTS, which
// PostgreSQL may answer with a scan of all activities.
func contactsNamed(column string) string {
	return `
		SELECT ` + contactstore.ColumnsSQL("c.") + `,
			(SELECT p.said FROM contact_pushes AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id) AS said,
			CASE WHEN c.shell THEN (SELECT 1 FROM activities AS a WHERE a.org_id = c.org_id AND a.contact_id = c.id LIMIT 1) IS NOT NULL
				ELSE FALSE END AS has_activities
		FROM json_each(CAST($1 AS text)) AS j
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts
			/*pg WHERE org_id = $2 AND ` + column + ` = CAST(j.atom AS bytetext) LIMIT 1 FOR UPDATE)*/ AS c
		WHERE c.org_id = $2 AND c.` + column + ` = CAST(j.atom AS bytetext)`
}

var (
	// contactsByEmail and contactsByExternalID each read the contacts that one chunk of an
	// import names. contactsByID reads the contacts whose queued consent a worker has
	// claimed. On PostgreSQL these statements also lock the contacts.
	contactsByEmail      = engine.Register("contacts by email", contactsNamed("email_key"))
	contactsByExternalID = engine.Register("contacts by external id", contactsNamed("external_id"))
	contactsByID         = engine.Register("contacts by id", contactsNamed("id"))

	// dropShells deletes contacts that only a sync has created ("shells"), unless they have
	// activities.
	dropShells = engine.Register("drop shells", `
		DELETE FROM contacts WHERE org_id = $1 AND shell AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = contacts.org_id AND a.contact_id = contacts.id)`)
	// insertContacts inserts contact records. It fails if a contact exists already, which
	// happens only if a concurrent transaction has inserted it. The transaction with this
	// statement then runs again.
	insertContacts = engine.Register("insert contacts", contactstore.InsertSQL(`$2`))
	// updateContacts updates contact records. It does not check whether an address or
	// external id is taken. The caller of WriteContacts must ensure that it is not.
	updateContacts = engine.Register("update contacts", `
		UPDATE contacts SET `+contactstore.SetFromJSONSQL()+`
		FROM `+engine.ParameterRows(`$1`)+`
		WHERE contacts.org_id = v ->> 'org' AND contacts.id = v ->> 'id'`)
)

// namedRow is a contact with Pending, the consent that waits to be written to the sending
// account, as JSON. Pending is nil if no consent waits. HasActivities is true for a shell (a
// contact that only a sync has created) with activities.
type namedRow struct {
	contactstore.Row
	Pending       *string `db:"said"`
	HasActivities bool    `db:"has_activities"`
}

// ContactStore reads and writes many contacts in one call, for bulk writes.
type ContactStore struct{ db *engine.DB }

var _ bulk.ContactStore = ContactStore{}

// NewContactStore returns the store of contacts for bulk writes, in the given database.
func NewContactStore(db *engine.DB) ContactStore { return ContactStore{db} }

// ContactsByKeys returns the contacts with one of the addresses or external ids. It reads
// by address first and by external id second, each in sorted order, so that concurrent
// writes lock contacts in the same order.
func (s ContactStore) ContactsByKeys(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]bulk.NamedContact, error) {
	var found []bulk.NamedContact
	for i, names := range [][]string{emailKeys, externalIDs} {
		if len(names) == 0 {
			continue
		}
		by := []*engine.Statement{contactsByEmail, contactsByExternalID}[i]
		parameter, err := engine.JSONParameter(slices.Compact(slices.Sorted(slices.Values(names))))
		if err != nil {
			return nil, err
		}
		if found, err = appendContacts(ctx, s.db, orgID, found, by, parameter); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// appendContacts runs the given statement. It appends the contacts that the statement
// selects to the slice found. parameter is a JSON array of addresses, external ids or ids.
func appendContacts(ctx context.Context, db *engine.DB, orgID string, found []bulk.NamedContact, by *engine.Statement, parameter string) ([]bulk.NamedContact, error) {
	rows, err := engine.List[namedRow](ctx, db, by, parameter, orgID)
	if err != nil {
		return nil, err
	}
	before := len(found)
	for _, row := range rows {
		contact, err := row.namedContact()
		if err != nil {
			return nil, err
		}
		found = append(found, contact)
	}
	contacts := make([]*contacts.Contact, len(found)-before)
	for i := range contacts {
		contacts[i] = &found[before+i].Contact
	}
	return found, contactstore.ShowAttributes(ctx, db, orgID, contacts...)
}

// namedContact converts the row to a bulk.NamedContact. It fails if a JSON column does
// not parse.
func (r namedRow) namedContact() (bulk.NamedContact, error) {
	contact, err := r.Contact()
	named := bulk.NamedContact{Contact: contact, HasActivities: r.HasActivities}
	if err != nil || r.Pending == nil {
		return named, err
	}
	pending, err := contactstore.DecodePendingConsent(*r.Pending)
	named.Pending = &pending
	return named, err
}

// writtenContact is an element of the JSON parameter of insertContacts and updateContacts.
type writtenContact struct {
	Org string `json:"org"`
	contactstore.Row
}

// WriteContacts stores a bulk write of contacts in one transaction. It encodes slots
// (indexed attribute values) and queued consent in other goroutines while the database
// writes the contact records.
func (s ContactStore) WriteContacts(ctx context.Context, orgID string, w bulk.ContactsWrite) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.dropShells(ctx, orgID, w.Drop); err != nil {
			return err
		}
		r, err := slots.InForce(ctx, s.db, orgID)
		if err != nil {
			return err
		}
		update, insert := withCurrentAttributes(r, w.Update), withCurrentAttributes(r, w.Insert)
		newSlots := core.StartAsync(func() (string, error) { return r.NewRows(slotContacts(insert)) })
		pushes := core.StartAsync(func() (pushParameters, error) { return pushesOf(w) })
		if err := s.updateMany(ctx, orgID, update); err != nil {
			return err
		}
		if err := s.insertMany(ctx, orgID, insert); err != nil {
			return err
		}
		if err := slots.Write(ctx, s.db, orgID, slotContacts(update)); err != nil {
			return err
		}
		if rows, err := newSlots(); err != nil {
			return err
		} else if err := r.Insert(ctx, s.db, orgID, rows); err != nil {
			return err
		}
		if err := replaceMemberships(ctx, s.db, orgID, w.Lists, w.At); err != nil {
			return err
		}
		parameters, err := pushes()
		if err != nil {
			return err
		}
		return writePushes(ctx, s.db, orgID, parameters, w.At)
	})
}

// withCurrentAttributes returns copies of contacts whose attribute values have the current
// names and types of the attribute definitions, ready to be stored.
func withCurrentAttributes(r *slots.Registry, all []contacts.Contact) []contacts.Contact {
	copies := slices.Clone(all)
	for i := range copies {
		copies[i].Attributes, _ = r.Settle(copies[i].StoredAttributes())
		copies[i].Hidden = nil
	}
	return copies
}

// slotContacts converts contacts to slots.Contact, from which package slots computes their
// indexed attribute values.
func slotContacts(all []contacts.Contact) []slots.Contact {
	slotted := make([]slots.Contact, len(all))
	for i, c := range all {
		slotted[i] = slots.Contact{ID: c.ID, Active: c.Status == contacts.Active, Attributes: c.Attributes}
	}
	return slotted
}

// dropShells deletes contacts that only a sync has created, unless they have activities. It
// runs before the contact records are written, because another contact of the same write
// may get the address of a deleted contact.
func (s ContactStore) dropShells(ctx context.Context, orgID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return engine.ExecRows(ctx, s.db, dropShells, orgID, ids)
}

// insertMany inserts contacts in the order of their addresses, so that two transactions
// with the same addresses cannot deadlock.
func (s ContactStore) insertMany(ctx context.Context, orgID string, contacts []contacts.Contact) error {
	if len(contacts) == 0 {
		return nil
	}
	parameter, topics, err := writtenContacts(orgID, contacts)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, insertContacts, orgID, parameter); err != nil {
		return err
	}
	return contactstore.AddChoices(ctx, s.db, orgID, topics)
}

// updateMany updates contacts. If one of them does not exist, it fails with NotFound, which
// rolls back the whole write.
func (s ContactStore) updateMany(ctx context.Context, orgID string, contacts []contacts.Contact) error {
	if len(contacts) == 0 {
		return nil
	}
	parameter, topics, err := writtenContacts(orgID, contacts)
	if err != nil {
		return err
	}
	changed, err := s.db.Exec(ctx, updateContacts, parameter)
	if err != nil {
		return err
	}
	if changed != len(contacts) {
		return core.NotFound("contact")
	}
	ids := make([]string, len(contacts))
	for i, c := range contacts {
		ids[i] = c.ID
	}
	return contactstore.ReplaceChoices(ctx, s.db, orgID, ids, topics)
}

// writtenContacts returns the contact records as one JSON parameter, sorted by address, and
// the topic choices of all contacts.
func writtenContacts(orgID string, contacts []contacts.Contact) (string, []contactstore.Choice, error) {
	rows := make([]writtenContact, len(contacts))
	var topics []contactstore.Choice
	for i, c := range contacts {
		attributes, err := slots.Encode(c.Attributes)
		if err != nil {
			return "", nil, err
		}
		choices := contactstore.PreferenceMap(c.TopicPreferences)
		preferences, err := contactstore.EncodePreferences(choices)
		if err != nil {
			return "", nil, err
		}
		rows[i] = writtenContact{orgID, contactstore.RowOf(c, attributes, preferences)}
		topics = contactstore.ChoicesOf(topics, c.ID, choices)
	}
	slices.SortFunc(rows, func(a, b writtenContact) int { return strings.Compare(a.EmailKey, b.EmailKey) })
	parameter, err := engine.JSONParameter(rows)
	return parameter, topics, err
}
