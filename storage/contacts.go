package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// contactStore stores single contacts, as [contacts.Store] says.
type contactStore struct{ db *engine.DB }

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
	SELECT ` + contactPlaces(map[string]string{"id": "e.name", "email": "e.present", "status": "'" + exceptionKind + "'", "attributes": "e.type"}) + `
	FROM (` + exceptionsOf + `) AS e`
	if lock != "" {
		exceptions = ""
	}
	found := ` FROM contacts WHERE org_id = $1 AND ` + by + ` = $2`
	return `
	SELECT ` + contactColumns("") + `
	FROM (SELECT ` + contactColumns("") + found + lock + `) AS c
	UNION ALL
	SELECT ` + contactPlaces(map[string]string{"id": "l.id", "email": "l.key", "attributes": "l.name"}) + `
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
	contactByEmail      = engine.RegisterPoint("contact by email", contactWithLists(`email_key`, ``))
	contactByExternalID = engine.RegisterPoint("contact by external id", contactWithLists(`external_id`, ``))
	contactByID         = engine.RegisterPoint("contact by id", contactWithLists(`id`, ``))

	lockByEmail      = engine.Register("lock contact by email", contactWithLists(`email_key`, contactLock))
	lockByExternalID = engine.Register("lock contact by external id", contactWithLists(`external_id`, contactLock))
	lockByID         = engine.Register("lock contact by id", contactWithLists(`id`, contactLock))

	countContacts = engine.Register("count contacts", `SELECT count(*) FROM contacts WHERE org_id = $1 AND status = 'active' AND NOT stub`)

	// An unset filter is an empty text or NULL and matches all contacts. The effective
	// choice of a topic is the explicit choice, or else the topic's default. Attributes
	// are compared as JSON text.
	contactsPage = engine.Register("contacts page", `
		SELECT `+contactColumns("c.")+` FROM contacts AS c
		WHERE c.org_id = $1 AND c.status = $2 AND (c.created_at, c.id) < ($3, $4)
		AND (CAST($5 AS text) = ''
			OR EXISTS (SELECT 1 FROM contact_topics AS p
				WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = $5 AND p.subscription = $6)
			OR EXISTS (SELECT 1 FROM topics AS t
				WHERE t.org_id = c.org_id AND t.name = $5 AND t.default_subscription = $6
				AND NOT EXISTS (SELECT 1 FROM contact_topics AS p
					WHERE p.org_id = c.org_id AND p.contact_id = c.id AND p.topic = $5)))
		AND (CAST($5 AS text) = '' OR $6 <> 'OPT_IN' OR NOT c.stub)
		AND (CAST($7 AS boolean) IS NULL OR c.unsubscribe_all = $7)
		AND (CAST($8 AS text) = '' OR CAST(c.attributes/*pg ::json*/ -> $8 AS text) IN ($9, $10))
		ORDER BY c.created_at DESC, c.id DESC LIMIT $11`)
)

func (s contactStore) ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error) {
	return s.contact(ctx, lockedInside(ctx, s.db, contactByEmail, lockByEmail), orgID, contacts.EmailKey(email))
}

func (s contactStore) ContactByExternalID(ctx context.Context, orgID, externalID string) (contacts.Contact, error) {
	return s.contact(ctx, lockedInside(ctx, s.db, contactByExternalID, lockByExternalID), orgID, externalID)
}

func (s contactStore) ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error) {
	return s.contact(ctx, lockedInside(ctx, s.db, contactByID, lockByID), orgID, id)
}

// lockedInside returns the statement that reads a row: inside a transaction the one that also
// locks it.
func lockedInside(ctx context.Context, db *engine.DB, read, lock *engine.Statement) *engine.Statement {
	if !db.InTransaction(ctx) {
		return read
	}
	return lock
}

// readPreferences holds the stored topic preferences of contacts that the transaction has
// read and locked. A write of a contact's preferences removes its entry.
var readPreferences engine.TxMemory[map[string]string]

// contact returns one contact with its lists.
func (s contactStore) contact(ctx context.Context, by *engine.Statement, orgID, key string) (contacts.Contact, error) {
	var row contactRow
	var on []lists.Ref
	var exceptions []attributes.Exception
	err := s.db.Retry(ctx, func() error {
		row, on, exceptions = contactRow{}, []lists.Ref{}, nil
		var c contactRow // the target of every row
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
	contact, err := row.contact()
	contact.Lists = on
	if err != nil {
		return contact, err
	}
	if s.db.InTransaction(ctx) {
		return contact, slotStore(s).shown(ctx, orgID, &contact)
	}
	contact.Attributes, contact.Hidden = attributes.Show(contact.Attributes, exceptions)
	return contact, nil
}

func (s contactStore) Contacts(ctx context.Context, orgID string, f contacts.ContactFilter) ([]contacts.Contact, error) {
	if strings.ContainsFunc(f.AttributeKey, func(r rune) bool { return !inAttributeName(r) }) {
		return nil, nil // SQLite would read such a name as a path
	}
	asString, asScalar, err := jsonForms(f.AttributeValue)
	if err != nil {
		return nil, err
	}
	exceptions, err := slotStore(s).exceptions(ctx, orgID)
	if err != nil || hides(exceptions, f.AttributeKey, f.AttributeValue) {
		return nil, err
	}
	created, id := engine.PageStart(f.After)
	rows, err := engine.List[contactRow](ctx, s.db, contactsPage, orgID, string(cmp.Or(f.Status, contacts.Active)), created, id,
		f.Topic, string(cmp.Or(f.Subscription, sending.OptIn)), f.UnsubscribeAll, f.AttributeKey, asString, asScalar, f.Limit)
	if err != nil {
		return nil, err
	}
	contacts := make([]contacts.Contact, len(rows))
	for i, row := range rows {
		if contacts[i], err = row.contact(); err != nil {
			return nil, err
		}
		contacts[i].Attributes, contacts[i].Hidden = attributes.Show(contacts[i].Attributes, exceptions)
	}
	return contacts, nil
}

// hides reports whether reads show this value of the attribute for no contact. It is true
// if the values of the name belong to another attribute or to none. It is also true if
// the value is not of the attribute's type.
func hides(exceptions []attributes.Exception, key string, value *string) bool {
	return key != "" && slices.ContainsFunc(exceptions, func(e attributes.Exception) bool {
		if e.Name != key || e.Present != key {
			return e.Name == key
		}
		_, fits := attributes.Attribute{Type: e.Type}.Settle(*value)
		return !fits
	})
}

func (s contactStore) CountContacts(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countContacts, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

var contactTaken = core.Error{
	Code:    core.CodeConflict,
	Message: "Another contact of this organization has this address or external id.",
	Next:    "Look the contact up by its address and by its external id, archived ones too, and change that one.",
}

func taken() *core.Error {
	e := contactTaken // a copy, because callers may add to an error
	return &e
}
