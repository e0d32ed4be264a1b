package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var (
	putSlots = engine.Register("put slots", putSlotsText())
	// A contact that a sync created has no attributes. A contact that the sync found
	// already has its row.
	addSlots = engine.Register("add slots", `
		INSERT INTO contact_slots (org_id, contact_id)
		SELECT $1, j.atom FROM json_each(CAST($2 AS text)) AS j WHERE TRUE
		ON CONFLICT DO NOTHING`)
	dropSlots = engine.Register("drop slots", `
		DELETE FROM contact_slots WHERE org_id = $1
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
)

// putSlotsText returns the statement that writes the rows of contacts whose slots
// changed.
func putSlotsText() string {
	names := append(slots.Columns(), slots.LongTexts)
	read, set := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		read[i] = slotColumn(name)
		set[i] = name + " = excluded." + name
	}
	columns := strings.Join(names, ", ")
	return `
		INSERT INTO contact_slots (org_id, contact_id, ` + columns + `)
		SELECT CAST($1 AS text), j.v ->> 'c', ` + strings.Join(read, ", ") + `
		FROM ` + engine.ParameterRows(`$2`) + ` WHERE TRUE
		ON CONFLICT (org_id, contact_id) DO UPDATE SET ` + strings.Join(set, ", ") + `
		WHERE (contact_slots.` + strings.Join(names, ", contact_slots.") + `)
			IS DISTINCT FROM (excluded.` + strings.Join(names, ", excluded.") + `)`
}

func slotColumn(name string) string {
	value := fmt.Sprintf(`j.v ->> '%s'`, name)
	switch {
	case name == slots.LongTexts:
	case strings.HasPrefix(name, attributes.NumberSlots):
		return `CAST(` + value + ` AS double precision)`
	case strings.HasPrefix(name, attributes.InstantSlots):
		return `CAST(` + value + ` AS bigint)`
	}
	return value
}

// slottedContact is a contact whose slots are to be written.
type slottedContact struct {
	id         string
	status     contacts.ContactStatus
	attributes map[string]any
}

// slotStore stores the slots of contacts, by which predicates find their attributes.
type slotStore struct{ db *engine.DB }

// slotAttributes converts the attributes of a contact to the current registry and returns
// them with their stored form. Every write of a contact calls it before the write, and
// writeSlots after it.
func (s slotStore) slotAttributes(ctx context.Context, orgID string, values map[string]any) (map[string]any, string, error) {
	r, err := attributeStore(s).registry(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	settled, _ := attributes.Settle(values, r.attributes, r.moved)
	encoded, err := encodeAttributes(settled)
	return settled, encoded, err
}

// exceptionsOf selects the names under which stored values may differ from what reads
// show; see [attributes.Exception]. Most organizations have none.
const exceptionsOf = `
	SELECT l.name, coalesce(a.name, '') AS present, coalesce(a.type, '') AS type
	FROM attribute_leftovers AS l LEFT JOIN attributes AS a ON a.org_id = l.org_id AND a.id = l.attribute_id
	WHERE l.org_id = $1
	UNION ALL SELECT name, name, type FROM attributes WHERE org_id = $1 AND recast`

var attributeExceptions = engine.RegisterPoint("attribute exceptions", exceptionsOf)

type exceptionRow struct {
	Name    string          `db:"name"`
	Present string          `db:"present"`
	Type    attributes.Type `db:"type"`
}

// exceptions returns the exceptions of the transaction's registry, or outside a
// transaction those of the current one.
func (s slotStore) exceptions(ctx context.Context, orgID string) ([]attributes.Exception, error) {
	if s.db.InTransaction(ctx) {
		r, err := attributeStore(s).registry(ctx, orgID)
		if err != nil {
			return nil, err
		}
		return r.exceptions, nil
	}
	rows, err := engine.List[exceptionRow](ctx, s.db, attributeExceptions, orgID)
	all := make([]attributes.Exception, len(rows))
	for i, row := range rows {
		all[i] = attributes.Exception(row)
	}
	return all, err
}

// shown converts the attributes of contacts in place to the values that reads show.
func (s slotStore) shown(ctx context.Context, orgID string, all ...*contacts.Contact) error {
	all = slices.DeleteFunc(all, func(c *contacts.Contact) bool { return len(c.Attributes) == 0 })
	if len(all) == 0 {
		return nil
	}
	exceptions, err := s.exceptions(ctx, orgID)
	for _, c := range all {
		c.Attributes, c.Hidden = attributes.Show(c.Attributes, exceptions)
	}
	return err
}

// settled returns copies of contacts whose attributes follow the current registry, ready
// to be stored.
func (r *registry) settled(contacts []contacts.Contact) []contacts.Contact {
	settled := slices.Clone(contacts)
	for i := range settled {
		settled[i].Attributes, _ = attributes.Settle(settled[i].StoredAttributes(), r.attributes, r.moved)
		settled[i].Hidden = nil
	}
	return settled
}

// slotted converts stored contacts to the argument of writeSlots.
func slotted(contacts []contacts.Contact) []slottedContact {
	all := make([]slottedContact, len(contacts))
	for i, c := range contacts {
		all[i] = slottedContact{c.ID, c.Status, c.Attributes}
	}
	return all
}

// writeSlots sets the slots of contacts to the values of their stored attributes. An
// archived contact has no row of slots.
func (s slotStore) writeSlots(ctx context.Context, orgID string, all []slottedContact) error {
	r, err := attributeStore(s).registry(ctx, orgID)
	if err != nil {
		return err
	}
	var put []map[string]any
	var drop []string
	for _, c := range all {
		if c.status == contacts.Active {
			put = append(put, r.slots(c))
		} else {
			drop = append(drop, c.id)
		}
	}
	if len(drop) > 0 {
		ids, err := engine.JSONParameter(drop)
		if err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, dropSlots, orgID, ids); err != nil {
			return err
		}
	}
	if len(put) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(put)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, putSlots, orgID, parameter)
	return err
}

// slots returns an element of the parameter of putSlots, with the columns that have a
// value.
func (r *registry) slots(c slottedContact) map[string]any {
	row := map[string]any{"c": c.id}
	var long map[string]string
	for _, attribute := range r.rows {
		stored, has := c.attributes[attribute.Name]
		if !has {
			continue
		}
		value := r.attributes[attribute.Name].SlotValue(stored)
		if value == nil {
			continue
		}
		text, _ := value.(string)
		for _, slot := range []string{attribute.Slot, attribute.Filling} {
			switch {
			case slot == "":
			case len(text) > slots.TextBytes:
				if long == nil {
					long = map[string]string{}
				}
				row[slot], long[slot] = beginning(text), text
			default:
				row[slot] = value
			}
		}
	}
	if long != nil {
		row[slots.LongTexts] = long
	}
	return row
}

// beginning returns the part of a longer text that a slot holds. It consists of whole
// characters and has more than slots.TextBytes bytes, so that it never equals a text that
// a slot holds whole.
func beginning(text string) string {
	end := slots.TextBytes + 1
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[:end]
}

// addSlots inserts the rows of contacts without attributes.
func (s slotStore) addSlots(ctx context.Context, orgID string, contactIDs []string) error {
	if len(contactIDs) == 0 {
		return nil
	}
	ids, err := engine.JSONParameter(contactIDs)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, addSlots, orgID, ids)
	return err
}
