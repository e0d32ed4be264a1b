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

// contactsNamed returns a statement that finds many contacts by the values of a column,
// each through its index. The text forces PostgreSQL to use the index. Without
// statistics, PostgreSQL assumes a small organization and would read all of it for every
// chunk of an import. The rows are sorted, so that two transactions lock the same
// contacts in the same order.
func contactsNamed(column string) string {
	return `
		SELECT ` + contactstore.ColumnsSQL("c.") + `,
			(SELECT p.said FROM contact_pushes AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id) AS said
		FROM json_each(CAST($1 AS text)) AS j
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts
			/*pg WHERE org_id = $2 AND ` + column + ` = CAST(j.atom AS bytetext) LIMIT 1 FOR UPDATE)*/ AS c
		WHERE c.org_id = $2 AND c.` + column + ` = CAST(j.atom AS bytetext)`
}

var (
	// Each of these reads one chunk of an import with one statement and locks what it
	// finds on PostgreSQL.
	contactsByEmail      = engine.Register("contacts by email", contactsNamed("email_key"))
	contactsByExternalID = engine.Register("contacts by external id", contactsNamed("external_id"))
	contactsByID         = engine.Register("contacts by id", contactsNamed("id"))

	// dropShells keeps a contact with activities, as dropping one shell does.
	dropShells = engine.Register("drop shells", `
		DELETE FROM contacts WHERE org_id = $1 AND shell AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = contacts.org_id AND a.contact_id = contacts.id)`)
	// insertContacts fails if a row exists, which only a concurrent writer can have
	// inserted. The transaction then runs again.
	insertContacts = engine.Register("insert contacts", contactstore.InsertSQL(`$2`))
	// updateContacts does not check for another owner of an address or external id:
	// WriteContacts requires that there is none.
	updateContacts = engine.Register("update contacts", `
		UPDATE contacts SET `+contactstore.SetFromJSONSQL()+`
		FROM `+engine.ParameterRows(`$1`)+`
		WHERE contacts.org_id = v ->> 'org' AND contacts.id = v ->> 'id'`)
)

// namedRow is a contact with the consent that is queued for the account, as JSON. Said is
// NULL for none.
type namedRow struct {
	contactstore.Row
	Said *string `db:"said"`
}

// ContactStore reads and writes many contacts at once, for bulk writes.
type ContactStore struct{ db *engine.DB }

var _ bulk.ContactStore = ContactStore{}

// NewContactStore returns the store on a database.
func NewContactStore(db *engine.DB) ContactStore { return ContactStore{db} }

// ContactsByKeys looks up addresses first and external ids second, each sorted and without
// duplicates, so that concurrent writes lock in one order.
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
		if found, err = named(ctx, s.db, orgID, found, by, parameter); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// named appends the contacts that a statement finds to found. parameter is a JSON array of
// names.
func named(ctx context.Context, db *engine.DB, orgID string, found []bulk.NamedContact, by *engine.Statement, parameter string) ([]bulk.NamedContact, error) {
	rows, err := engine.List[namedRow](ctx, db, by, parameter, orgID)
	if err != nil {
		return nil, err
	}
	before := len(found)
	for _, row := range rows {
		contact, err := row.named()
		if err != nil {
			return nil, err
		}
		found = append(found, contact)
	}
	contacts := make([]*contacts.Contact, len(found)-before)
	for i := range contacts {
		contacts[i] = &found[before+i].Contact
	}
	return found, contactstore.Shown(ctx, db, orgID, contacts...)
}

// named converts a row of the database to a named contact. It fails if a JSON column does
// not parse.
func (r namedRow) named() (bulk.NamedContact, error) {
	contact, err := r.Contact()
	if err != nil || r.Said == nil {
		return bulk.NamedContact{Contact: contact}, err
	}
	said, err := contactstore.DecodeSaid(*r.Said)
	return bulk.NamedContact{Contact: contact, Pending: &said}, err
}

// writtenContact is an element of the parameter of insertContacts and updateContacts.
type writtenContact struct {
	Org string `json:"org"`
	contactstore.Row
}

// WriteContacts encodes slots and pushes in other goroutines while the database writes
// the records.
func (s ContactStore) WriteContacts(ctx context.Context, orgID string, w bulk.ContactsWrite) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.dropShells(ctx, orgID, w.Drop); err != nil {
			return err
		}
		r, err := slots.InForce(ctx, s.db, orgID)
		if err != nil {
			return err
		}
		update, insert := settled(r, w.Update), settled(r, w.Insert)
		newSlots := core.StartAsync(func() (string, error) { return r.NewRows(slotted(insert)) })
		pushes := core.StartAsync(func() (pushParameters, error) { return pushesOf(w) })
		if err := s.updateMany(ctx, orgID, update); err != nil {
			return err
		}
		if err := s.insertMany(ctx, orgID, insert); err != nil {
			return err
		}
		if err := slots.Write(ctx, s.db, orgID, slotted(update)); err != nil {
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

// settled returns copies of contacts whose attributes follow the registry, ready to be
// stored.
func settled(r *slots.Registry, all []contacts.Contact) []contacts.Contact {
	settled := slices.Clone(all)
	for i := range settled {
		settled[i].Attributes, _ = r.Settle(settled[i].StoredAttributes())
		settled[i].Hidden = nil
	}
	return settled
}

// slotted returns what the slots of stored contacts are made of.
func slotted(all []contacts.Contact) []slots.Contact {
	slotted := make([]slots.Contact, len(all))
	for i, c := range all {
		slotted[i] = slots.Contact{ID: c.ID, Active: c.Status == contacts.Active, Attributes: c.Attributes}
	}
	return slotted
}

// dropShells frees the addresses that other contacts of the write move to, before the
// records are written.
func (s ContactStore) dropShells(ctx context.Context, orgID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(ids)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, dropShells, orgID, parameter)
	return err
}

// insertMany inserts contacts ordered by address. Two transactions that insert the same
// addresses then wait at the first common one and cannot deadlock.
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

// updateMany returns not_found if one of the contacts is gone, and so undoes the whole
// write.
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

// writtenContacts returns the records as one parameter, sorted by address, and the
// explicit choices of all contacts.
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
