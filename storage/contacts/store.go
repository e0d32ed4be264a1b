package contacts

import (
	"context"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// Store stores single contacts.
type Store struct{ db *engine.DB }

var (
	_ contacts.Store        = Store{}
	_ topics.ContactCounter = Store{}
)

// New returns the store on a database.
func New(db *engine.DB) Store { return Store{db} }

// contactWithLists returns the statement that finds one contact and its lists. A second
// statement would cost half as much as the lookup again. The contact is one row and each
// list another. Attributes may be long and lists many, and a join would repeat the
// attributes for each list. The row of a list has no status. It has its id, key and name
// where a contact has id, address and attributes, because extra columns would slow down
// the ordinary lookup.
//
// An attribute exception is a row of a third kind, for the same reason. A statement that
// locks returns no exceptions, because inside a transaction the registry provides them.
func contactWithLists(by, lock string) string {
	exceptions := `
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"id": "e.name", "email": "e.present", "status": "'" + exceptionKind + "'", "attributes": "e.type"}) + `
	FROM (` + slots.ExceptionsSQL + `) AS e`
	if lock != "" {
		exceptions = ""
	}
	found := ` FROM contacts WHERE org_id = $1 AND ` + by + ` = $2`
	return `
	SELECT ` + ColumnsSQL("") + `
	FROM (SELECT ` + ColumnsSQL("") + found + lock + `) AS c
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"id": "l.id", "email": "l.key", "attributes": "l.name"}) + `
	FROM (SELECT org_id, id` + found + `) AS c
	JOIN list_members AS m ON m.org_id = c.org_id AND m.contact_id = c.id
	JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id` + exceptions
}

// exceptionKind replaces the contact's status in the row of an exception.
const exceptionKind = "exception"

// contactLock locks a contact until the transaction ends, so that writes follow from what
// was read. SQLite has one writer.
const contactLock = ` /*pg FOR UPDATE*/`

var (
	// These three serve nearly every call. Each reads through the primary key or one of
	// the two unique keys of contacts.
	contactByEmail      = engine.RegisterPoint("contact by email", contactWithLists(`email_key`, ``))
	contactByExternalID = engine.RegisterPoint("contact by external id", contactWithLists(`external_id`, ``))
	contactByID         = engine.RegisterPoint("contact by id", contactWithLists(`id`, ``))

	// These three are the same reads with a lock on the contact, but without the rows of
	// exceptions.
	lockByEmail      = engine.Register("lock contact by email", contactWithLists(`email_key`, contactLock))
	lockByExternalID = engine.Register("lock contact by external id", contactWithLists(`external_id`, contactLock))
	lockByID         = engine.Register("lock contact by id", contactWithLists(`id`, contactLock))

	// countContacts leaves out archived contacts and stubs. It walks contacts_newest for
	// the active ones.
	countContacts = engine.Register("count contacts", `SELECT count(*) FROM contacts WHERE org_id = $1 AND status = 'active' AND NOT stub`)
)

// ContactByEmail, like the other two, locks the contact inside a transaction and keeps
// its stored preferences in readPreferences.
func (s Store) ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByEmail, lockByEmail), orgID, contacts.EmailKey(email))
}

func (s Store) ContactByExternalID(ctx context.Context, orgID, externalID string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByExternalID, lockByExternalID), orgID, externalID)
}

func (s Store) ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByID, lockByID), orgID, id)
}

// readPreferences holds the stored topic preferences of contacts that the transaction has
// read and locked. A write of a contact's preferences removes its entry.
var readPreferences engine.TxMemory[map[string]string]

// contact returns one contact with its lists.
func (s Store) contact(ctx context.Context, by *engine.Statement, orgID, key string) (contacts.Contact, error) {
	var row Row
	var on []lists.Ref
	var exceptions []attributes.Exception
	err := s.db.Retry(ctx, func() error {
		row, on, exceptions = Row{}, []lists.Ref{}, nil
		var c Row // the target of every row
		targets := c.targets()
		return s.db.Each(ctx, by, []any{orgID, key}, func(rows *sqlx.Rows) error {
			err := rows.Scan(targets...)
			switch c.Status {
			case "":
				on = append(on, lists.Ref{ID: c.ID, Key: c.Email, Name: c.Attributes})
			case exceptionKind:
				exceptions = append(exceptions, attributes.Exception{Name: c.ID, Present: c.Email, Type: attributes.Type(c.Attributes)})
			default:
				row = c
			}
			return err
		})
	})
	if err != nil {
		return contacts.Contact{}, err
	}
	if row.ID == "" {
		return contacts.Contact{}, core.NotFound("contact")
	}
	if read := readPreferences.Of(ctx, s.db); read != nil {
		if *read == nil {
			*read = map[string]string{}
		}
		(*read)[row.ID] = row.TopicPreferences
	}
	slices.SortFunc(on, func(a, b lists.Ref) int { return strings.Compare(a.Key, b.Key) })
	contact, err := row.Contact()
	contact.Lists = on
	if err != nil {
		return contact, err
	}
	if s.db.InTransaction(ctx) {
		return contact, Shown(ctx, s.db, orgID, &contact)
	}
	contact.Attributes, contact.Hidden = attributes.Show(contact.Attributes, exceptions)
	return contact, nil
}

func (s Store) CountContacts(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countContacts, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// Shown converts the attributes of contacts in place to the values that reads show.
func Shown(ctx context.Context, db *engine.DB, orgID string, all ...*contacts.Contact) error {
	all = slices.DeleteFunc(all, func(c *contacts.Contact) bool { return len(c.Attributes) == 0 })
	if len(all) == 0 {
		return nil
	}
	exceptions, err := slots.Exceptions(ctx, db, orgID)
	for _, c := range all {
		c.Attributes, c.Hidden = attributes.Show(c.Attributes, exceptions)
	}
	return err
}
