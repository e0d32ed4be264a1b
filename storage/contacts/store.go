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

// lockedWithLists returns the statement that reads a contact with its lists by the given column, and
// locks the contact until the transaction ends, so that it cannot change between reading and
// writing. SQLite has one writer at a time and needs no lock.
//
// Contact and lists are separate rows, because PostgreSQL locks no row of a subquery. The row of a
// list has the status "" and its id, key and name in the columns id, email and attributes. On
// PostgreSQL, a statement that waited for the lock has the lists of the time before it waited.
//
// There are no rows for attributes, because a transaction reads the attribute definitions
// separately. On PostgreSQL the statement then takes the shared lock of the definitions
// ([slots.ShareSQL]) and returns a row with the status sharedKind. With the parameter
// whenFound it does so only if there is a contact. Otherwise a transaction that finds none,
// and then locks another one, would lock the definitions first.
func lockedWithLists(by string, whenFound bool) string {
	found := ` FROM contacts WHERE org_id = $1 AND ` + by + ` = $2`
	from := ``
	if whenFound {
		from = found
	}
	return `
	SELECT ` + ColumnsSQL("") + `
	FROM (SELECT ` + ColumnsSQL("") + found + ` /*pg FOR UPDATE*/) AS c
	UNION ALL
	SELECT ` + placesSQL(map[string]string{"id": "l.id", "email": "l.key", "attributes": "l.name"}) + `
	FROM (SELECT org_id, id` + found + `) AS c
	JOIN list_members AS m ON m.org_id = c.org_id AND m.contact_id = c.id
	JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
	/*pg UNION ALL
	SELECT ` + placesSQL(map[string]string{"status": "'" + sharedKind + "' || " + slots.ShareSQL}) + from + `*/`
}

// sharedKind is the status that marks the result row of lockedWithLists that took the shared
// lock of the attribute definitions.
const sharedKind = "shared"

var (
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
// contact. It also remembers the contact's keys and stored topic preferences until the
// transaction ends, so that a later write in the transaction can do without what is unchanged.
func (s Store) ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error) {
	return s.contact(ctx, contactByEmail, lockByEmail, orgID, contacts.EmailKey(email))
}

func (s Store) ContactByExternalID(ctx context.Context, orgID, externalID string) (contacts.Contact, error) {
	return s.contact(ctx, contactByExternalID, lockByExternalID, orgID, externalID)
}

func (s Store) ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error) {
	return s.contact(ctx, contactByID, lockByID, orgID, id)
}

// locked has what a transaction has read of a contact that it has locked.
type locked struct {
	emailKey    string
	externalID  *string
	preferences string // the stored topic preferences
}

// hasKeys reports whether the contact has the address and the external id of the row.
func (l locked) hasKeys(row Row) bool {
	if l.externalID == nil || row.ExternalID == nil {
		return l.emailKey == row.EmailKey && l.externalID == row.ExternalID
	}
	return l.emailKey == row.EmailKey && *l.externalID == *row.ExternalID
}

// lockedContacts holds, by id, the contacts that the transaction has read and locked. Writing a
// contact's preferences, address or external id removes its entry.
var lockedContacts engine.TxMemory[map[string]locked]

// contact returns the contact that read, or lock inside a transaction, finds by key, with its
// lists. It fails with NotFound if there is none.
func (s Store) contact(ctx context.Context, read, lock *engine.Statement, orgID, key string) (contacts.Contact, error) {
	if !s.db.InTransaction(ctx) {
		return s.find(ctx, read, orgID, key)
	}
	row, on, err := s.lock(ctx, lock, orgID, key)
	if err != nil {
		return contacts.Contact{}, err
	}
	all := lockedContacts.Of(ctx, s.db)
	if *all == nil {
		*all = map[string]locked{}
	}
	(*all)[row.ID] = locked{contacts.EmailKey(row.Email), row.ExternalID, row.TopicPreferences}
	contact, err := contactOn(row, on)
	if err != nil {
		return contact, err
	}
	return contact, ShowAttributes(ctx, s.db, orgID, &contact)
}

// lock reads and locks the contact that the statement finds by key, and its lists. It fails with
// NotFound if there is none.
func (s Store) lock(ctx context.Context, by *engine.Statement, orgID, key string) (Row, []lists.Ref, error) {
	var found, row Row // row is the target of every row
	on, targets := []lists.Ref{}, row.targets()
	err := s.db.Each(ctx, by, []any{orgID, key}, func(rows *sqlx.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		switch row.Status {
		case "":
			on = append(on, lists.Ref{ID: row.ID, Key: row.Email, Name: row.Attributes})
		case sharedKind:
			slots.NoteShared(ctx, s.db, orgID)
		default:
			found = row
		}
		return nil
	})
	if err == nil && found.ID == "" {
		err = core.NotFound("contact")
	}
	return found, on, err
}

// contactOn converts a row to a contact that is on the lists. Its attribute values are those stored.
func contactOn(row Row, on []lists.Ref) (contacts.Contact, error) {
	contact, err := row.Contact()
	slices.SortFunc(on, func(a, b lists.Ref) int { return strings.Compare(a.Key, b.Key) })
	contact.Lists = on
	return contact, err
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
