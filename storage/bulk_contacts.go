package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
)

// contactsNamed returns a statement that finds many contacts by the values of a column,
// each through its index. The text forces PostgreSQL to use the index. Without
// statistics, PostgreSQL assumes a small organization and would read all of it for every
// chunk of an import. The rows are sorted, so that two transactions lock the same
// contacts in the same order.
func contactsNamed(column string) string {
	return `
		SELECT ` + contactColumns("c.") + `,
			(SELECT p.said FROM contact_pushes AS p WHERE p.org_id = c.org_id AND p.contact_id = c.id) AS said
		FROM json_each(CAST($1 AS text)) AS j
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts
			/*pg WHERE org_id = $2 AND ` + column + ` = CAST(j.atom AS bytetext) LIMIT 1 FOR UPDATE)*/ AS c
		WHERE c.org_id = $2 AND c.` + column + ` = CAST(j.atom AS bytetext)`
}

var (
	contactsByEmail      = engine.Register("contacts by email", contactsNamed("email_key"))
	contactsByExternalID = engine.Register("contacts by external id", contactsNamed("external_id"))
	contactsByID         = engine.Register("contacts by id", contactsNamed("id"))

	dropShells = engine.Register("drop shells", `
		DELETE FROM contacts WHERE org_id = $1 AND shell AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		AND NOT EXISTS (SELECT 1 FROM activities AS a WHERE a.org_id = contacts.org_id AND a.contact_id = contacts.id)`)
	insertContacts = engine.Register("insert contacts", insertContactsText(`$2`))
	updateContacts = engine.Register("update contacts", `
		UPDATE contacts SET `+setContactText(contactColumn.fromJSON)+`
		FROM `+engine.ParameterRows(`$1`)+`
		WHERE contacts.org_id = v ->> 'org' AND contacts.id = v ->> 'id'`)

	leaveManyLists = engine.Register("leave lists of many", `
		DELETE FROM list_members WHERE (org_id, contact_id) IN `+manyOfOrg(`$1`, `$2`)+`
		AND contact_id || ' ' || list_id NOT IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING contact_id, list_id AS set_id`)
	joinManyLists = engine.Register("join lists of many", `
		INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT l.org_id, l.id, v ->> 'contact', CAST($1 AS bigint)
		FROM `+engine.ParameterRows(`$2`)+`
		JOIN lists AS l ON l.org_id = $3 AND l.id = v ->> 'set' AND l.status = 'active'
		/*pg FOR KEY SHARE OF l*/
		ON CONFLICT DO NOTHING
		RETURNING contact_id, list_id AS set_id`)
)

// manyOfOrg returns a subquery of the keys (organization, contact) of many contacts. org
// and ids are parameters: the organization and a JSON array of ids. PostgreSQL cannot see
// that the organization is constant, so it does not read all of its rows.
func manyOfOrg(org, ids string) string {
	return `(WITH j AS MATERIALIZED (SELECT CAST(` + org + ` AS bytetext) AS org, atom FROM json_each(CAST(` + ids + ` AS text)))
			SELECT org, atom FROM j)`
}

type namedRow struct {
	contactRow
	Said *string `db:"said"`
}

// manyContactStore reads and writes many contacts at once, for bulk writes.
type manyContactStore struct{ db *engine.DB }

func (s manyContactStore) ContactsNamed(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]bulk.NamedContact, error) {
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
		if found, err = s.named(ctx, orgID, found, by, parameter); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s manyContactStore) named(ctx context.Context, orgID string, found []bulk.NamedContact, by *engine.Statement, parameter string) ([]bulk.NamedContact, error) {
	rows, err := engine.List[namedRow](ctx, s.db, by, parameter, orgID)
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
	return found, slotStore(s).shown(ctx, orgID, contacts...)
}

func (r namedRow) named() (bulk.NamedContact, error) {
	contact, err := r.contact()
	if err != nil || r.Said == nil {
		return bulk.NamedContact{Contact: contact}, err
	}
	said, err := decodeSaid(*r.Said)
	return bulk.NamedContact{Contact: contact, Pending: &said}, err
}

func decodeSaid(stored string) (contacts.Said, error) {
	var said contacts.Said
	if err := json.Unmarshal([]byte(stored), &said); err != nil {
		return said, fmt.Errorf("storage: what was said of a contact: %w", err)
	}
	return said, nil
}

// writtenContact is an element of the parameter of insertContacts and updateContacts.
type writtenContact struct {
	Org string `json:"org"`
	contactRow
}

func (s manyContactStore) WriteContacts(ctx context.Context, orgID string, w bulk.ContactsWrite) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.dropShells(ctx, orgID, w.Drop); err != nil {
			return err
		}
		r, err := attributeStore(s).registry(ctx, orgID)
		if err != nil {
			return err
		}
		update, insert := r.settled(w.Update), r.settled(w.Insert)
		slots := core.Ahead(func() (string, error) { return r.slotParameter(insert) })
		pushes := core.Ahead(func() (pushParameters, error) { return pushesOf(w) })
		if err := s.updateMany(ctx, orgID, update); err != nil {
			return err
		}
		if err := s.insertMany(ctx, orgID, insert); err != nil {
			return err
		}
		if err := slotStore(s).writeSlots(ctx, orgID, slotted(update)); err != nil {
			return err
		}
		if parameter, err := slots(); err != nil {
			return err
		} else if err := slotStore(s).insertSlots(ctx, orgID, r, parameter); err != nil {
			return err
		}
		if err := s.replaceManyMemberships(ctx, orgID, w.Lists, w.At); err != nil {
			return err
		}
		parameters, err := pushes()
		if err != nil {
			return err
		}
		return pushStore(s).writePushes(ctx, orgID, parameters, w.At)
	})
}

func (s manyContactStore) dropShells(ctx context.Context, orgID string, ids []string) error {
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
func (s manyContactStore) insertMany(ctx context.Context, orgID string, contacts []contacts.Contact) error {
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
	return contactStore(s).addTopics(ctx, orgID, topics)
}

func (s manyContactStore) updateMany(ctx context.Context, orgID string, contacts []contacts.Contact) error {
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
	return contactStore(s).replaceTopics(ctx, orgID, ids, topics)
}

func writtenContacts(orgID string, contacts []contacts.Contact) (string, []contactTopic, error) {
	rows := make([]writtenContact, len(contacts))
	var topics []contactTopic
	for i, c := range contacts {
		attributes, err := encodeAttributes(c.Attributes)
		if err != nil {
			return "", nil, err
		}
		choices := preferenceMap(c.TopicPreferences)
		preferences, err := encodePreferences(choices)
		if err != nil {
			return "", nil, err
		}
		rows[i] = writtenContact{orgID, rowOf(c, attributes, preferences)}
		topics = topicsOf(topics, c.ID, choices)
	}
	slices.SortFunc(rows, func(a, b writtenContact) int { return strings.Compare(a.EmailKey, b.EmailKey) })
	parameter, err := engine.JSONParameter(rows)
	return parameter, topics, err
}

func (s manyContactStore) replaceManyMemberships(ctx context.Context, orgID string, memberships map[string][]string, at time.Time) error {
	if len(memberships) == 0 {
		return nil
	}
	var kept []string
	var members []membership.InSet
	for contact, ids := range memberships {
		for _, id := range ids {
			kept = append(kept, contact+" "+id)
			members = append(members, membership.InSet{Contact: contact, Set: id})
		}
	}
	who, err := engine.JSONParameter(slices.Sorted(maps.Keys(memberships)))
	if err != nil {
		return err
	}
	stay, err := engine.JSONParameter(kept)
	if err != nil {
		return err
	}
	parameter, err := engine.JSONParameter(members)
	if err != nil {
		return err
	}
	left, err := engine.List[membership.InSet](ctx, s.db, leaveManyLists, orgID, who, stay)
	if err != nil {
		return err
	}
	joined, err := engine.List[membership.InSet](ctx, s.db, joinManyLists, engine.At(at), parameter, orgID)
	if err != nil {
		return err
	}
	return membership.Log(ctx, s.db, orgID, string(lists.ListSet), left, joined, at)
}
