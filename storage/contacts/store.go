package contacts

import (
	"context"
	"maps"
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

// New returns the store of contacts on the database.
func New(db *engine.DB) Store { return Store{db} }

// contactWithLists returns the statement that reads one contact by the given column, with
// its lists. A second statement for the lists would add half the cost of the lookup.
// Contact and lists are separate rows, because a join would repeat long attributes for each
// list. The row of a list has the status "" and its id, key and name in the columns id,
// email and attributes. Extra columns would slow down the usual lookup.
//
// There is also a row for each attribute name whose values reads must rename, convert or
// hide. Its status is exceptionKind.
func contactWithLists(by string) string {
	return contactSQL(by, ``) + `
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"id": "e.name", "email": "e.present", "status": "'" + exceptionKind + "'", "attributes": "e.type"}) + `
	FROM (` + slots.ExceptionsSQL + `) AS e`
}

// contactSQL is the part of contactWithLists for the contact and its lists.
func contactSQL(by, lock string) string {
	found := ` FROM contacts WHERE org_id = $1 AND ` + by + ` = $2`
	return `
	SELECT ` + ColumnsSQL("") + `
	FROM (SELECT ` + ColumnsSQL("") + found + lock + `) AS c
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"id": "l.id", "email": "l.key", "attributes": "l.name"}) + `
	FROM (SELECT org_id, id` + found + `) AS c
	JOIN list_members AS m ON m.org_id = c.org_id AND m.contact_id = c.id
	JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id`
}

// lockedWithLists returns the statement that reads a contact with its lists as
// contactWithLists does, and locks the contact until the transaction ends, so that it cannot
// change between reading and writing. SQLite has one writer at a time and needs no lock.
//
// There are no rows for attributes, because a transaction reads the attribute definitions
// separately. On PostgreSQL the statement then takes the shared lock of the definitions
// ([slots.ShareSQL]) and returns a row with the status sharedKind. With the parameter
// whenFound it does so only if there is a contact. Otherwise a transaction that finds none,
// and then locks another one, would lock the definitions first.
func lockedWithLists(by string, whenFound bool) string {
	from := ``
	if whenFound {
		from = ` FROM contacts WHERE org_id = $1 AND ` + by + ` = $2`
	}
	return contactSQL(by, ` /*pg FOR UPDATE*/`) + `
	/*pg UNION ALL
	SELECT ` + placesSQL(map[string]string{"status": "'" + sharedKind + "' || " + slots.ShareSQL}) + from + `*/`
}

// exceptionKind is the status that marks a result row as an attribute exception: a name
// under which reads must rename, convert or hide stored attribute values.
const exceptionKind = "exception"

// sharedKind is the status that marks the result row of lockedWithLists that took the shared
// lock of the attribute definitions.
const sharedKind = "shared"

var (
	// contactByEmail, contactByExternalID and contactByID read one contact. They serve
	// nearly every API call. Each reads through the primary key or a unique key of contacts.
	contactByEmail      = engine.RegisterPoint("contact by email", contactWithLists(`email_key`))
	contactByExternalID = engine.RegisterPoint("contact by external id", contactWithLists(`external_id`))
	contactByID         = engine.RegisterPoint("contact by id", contactWithLists(`id`))

	// lockByEmail, lockByExternalID and lockByID read a contact and lock it. A write that
	// names a contact by several keys looks for its address last.
	lockByEmail      = engine.Register("lock contact by email", lockedWithLists(`email_key`, false))
	lockByExternalID = engine.Register("lock contact by external id", lockedWithLists(`external_id`, true))
	lockByID         = engine.Register("lock contact by id", lockedWithLists(`id`, true))

	// countContacts counts active contacts through the index contacts_newest. It excludes
	// stubs, which are known only from activities.
	countContacts = engine.Register("count contacts", `SELECT count(*) FROM contacts WHERE org_id = $1 AND status = 'active' AND NOT stub`)
)

// ContactByEmail returns the contact with the address. Inside a transaction it locks the
// contact. It also remembers the contact's stored topic preferences until the transaction
// ends, so that a later write in the transaction can skip unchanged preferences.
func (s Store) ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByEmail, lockByEmail), orgID, contacts.EmailKey(email))
}

func (s Store) ContactByExternalID(ctx context.Context, orgID, externalID string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByExternalID, lockByExternalID), orgID, externalID)
}

func (s Store) ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error) {
	return s.contact(ctx, s.db.LockedInside(ctx, contactByID, lockByID), orgID, id)
}

// readPreferences holds, by contact id, the stored topic preferences of contacts that the
// transaction has read and locked. Writing a contact's preferences removes its entry.
var readPreferences engine.TxMemory[map[string]string]

// contact returns the contact that the statement finds by key, with its lists. It fails
// with NotFound if there is none.
func (s Store) contact(ctx context.Context, by *engine.Statement, orgID, key string) (contacts.Contact, error) {
	read, err := s.read(ctx, by, orgID, key)
	if read.shared {
		slots.NoteShared(ctx, s.db, orgID)
	}
	if err != nil {
		return contacts.Contact{}, err
	}
	if preferences := readPreferences.Of(ctx, s.db); preferences != nil {
		if *preferences == nil {
			*preferences = map[string]string{}
		}
		(*preferences)[read.row.ID] = read.row.TopicPreferences
	}
	contact, err := read.contact()
	if err != nil || !s.db.InTransaction(ctx) {
		return contact, err
	}
	// A statement with a lock has no exceptions, so the values are still those stored.
	return contact, ShowAttributes(ctx, s.db, orgID, &contact)
}

// reading is what a statement has read about one contact.
type reading struct {
	row        Row
	lists      []lists.Ref
	exceptions []attributes.Exception
	details    contacts.Details
	// shared is true if the statement has locked the attribute definitions; see lockedWithLists.
	shared bool
}

// read reads the rows of a contact that the statement finds by key. It fails with NotFound if
// there is none.
func (s Store) read(ctx context.Context, by *engine.Statement, orgID, key string) (*reading, error) {
	var read *reading
	err := s.db.Retry(ctx, func() error {
		read = &reading{lists: []lists.Ref{}}
		var c Row // the target of every row
		targets := c.targets()
		return s.db.Each(ctx, by, []any{orgID, key}, func(rows *sqlx.Rows) error {
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			switch c.Status {
			case "":
				read.lists = append(read.lists, lists.Ref{ID: c.ID, Key: c.Email, Name: c.Attributes})
			case exceptionKind:
				read.exceptions = append(read.exceptions, attributes.Exception{Name: c.ID, Present: c.Email, Type: attributes.Type(c.Attributes)})
			case sharedKind:
				read.shared = true
			default:
				read.row = c
			}
			return nil
		})
	})
	if err == nil && read.row.ID == "" {
		err = core.NotFound("contact")
	}
	return read, err
}

// contact returns the contact that was read, with its lists and, if the statement had
// exceptions, the attribute values that reads return.
func (r *reading) contact() (contacts.Contact, error) {
	contact, err := r.row.Contact()
	if err != nil {
		return contact, err
	}
	slices.SortFunc(r.lists, func(a, b lists.Ref) int { return strings.Compare(a.Key, b.Key) })
	contact.Lists = r.lists
	contact.Attributes, contact.Hidden = attributes.Show(contact.Attributes, r.exceptions)
	return contact, nil
}

func (s Store) CountContacts(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countContacts, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// ShowAttributes replaces the stored attribute values of each contact by the values that
// reads return. It renames, converts or hides values that are still stored under a former
// name or type of the attribute. It also hides values of deleted attributes.
func ShowAttributes(ctx context.Context, db *engine.DB, orgID string, all ...*contacts.Contact) error {
	all = slices.DeleteFunc(all, func(c *contacts.Contact) bool { return len(c.Attributes) == 0 })
	if len(all) == 0 {
		return nil
	}
	if len(all) == 1 && db.InTransaction(ctx) {
		// Bulk writes read all definitions anyway.
		r, err := slots.InForceFor(ctx, db, orgID, maps.Keys(all[0].Attributes))
		if err == nil {
			all[0].Attributes, all[0].Hidden = attributes.Show(all[0].Attributes, r.Exceptions)
		}
		return err
	}
	exceptions, err := slots.Exceptions(ctx, db, orgID)
	for _, c := range all {
		c.Attributes, c.Hidden = attributes.Show(c.Attributes, exceptions)
	}
	return err
}
