package slots

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	putSlots = engine.Register("put slots", putSlotsText())
	// addSlots inserts empty rows of contact_slots for contacts that a sync created, which
	// have no attributes. It skips contacts that already have a row there.
	addSlots = engine.Register("add slots", `
		INSERT INTO contact_slots (org_id, contact_id)
		SELECT $1, j.atom FROM json_each(CAST($2 AS text)) AS j WHERE TRUE
		ON CONFLICT DO NOTHING`)
	dropSlots = engine.Register("drop slots", `
		DELETE FROM contact_slots WHERE org_id = $1
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
)

// putSlotsText returns the statement that inserts or updates rows of contact_slots. It does
// not write rows that are unchanged.
func putSlotsText() string {
	names := append(Columns(), LongTexts)
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

// slotColumn returns the SQL of the value for a column of contact_slots. It reads the value
// from the JSON object j.v and casts it to the column's type.
func slotColumn(name string) string {
	value := fmt.Sprintf(`j.v ->> '%s'`, name)
	switch {
	case name == LongTexts:
	case strings.HasPrefix(name, attributes.NumberSlots):
		return `CAST(` + value + ` AS double precision)`
	case strings.HasPrefix(name, attributes.InstantSlots):
		return `CAST(` + value + ` AS bigint)`
	}
	return value
}

// Contact is a contact whose row in contact_slots must be written.
type Contact struct {
	ID string
	// Active is false for an archived contact, which has no row in contact_slots.
	Active bool
	// Attributes are the stored attribute values, as Registry.Settle returned them.
	Attributes map[string]any
}

// Write sets the columns of contact_slots to the attribute values of contacts, and deletes
// the rows of archived contacts. It must run in the transaction that writes the contacts.
func Write(ctx context.Context, db *engine.DB, orgID string, all []Contact) error {
	r, err := definitionsOf(ctx, db, orgID, all)
	if err != nil {
		return err
	}
	var put []map[string]any
	var drop []string
	for _, c := range all {
		if c.Active {
			put = append(put, r.row(c))
		} else {
			drop = append(drop, c.ID)
		}
	}
	if len(drop) > 0 {
		if err := engine.LaterRows(ctx, db, dropSlots, orgID, drop); err != nil {
			return err
		}
	}
	if len(put) == 0 {
		return nil
	}
	return engine.LaterRows(ctx, db, putSlots, orgID, put)
}

// definitionsOf returns the definitions that the values of the contacts need.
func definitionsOf(ctx context.Context, db *engine.DB, orgID string, all []Contact) (*Registry, error) {
	if len(all) == 1 {
		return InForceFor(ctx, db, orgID, maps.Keys(all[0].Attributes))
	}
	return InForce(ctx, db, orgID)
}

// row returns the row of contact_slots for a contact, as a JSON object for putSlots. It
// contains only columns with a value.
func (r *Registry) row(c Contact) map[string]any {
	row := map[string]any{"c": c.ID}
	var long map[string]string
	for _, attribute := range r.Rows {
		stored, has := c.Attributes[attribute.Name]
		if !has {
			continue
		}
		value := r.Attributes[attribute.Name].SlotValue(stored)
		if value == nil {
			continue
		}
		text, _ := value.(string)
		for _, slot := range []string{attribute.Slot, attribute.Filling} {
			switch {
			case slot == "":
			case len(text) > TextBytes:
				if long == nil {
					long = map[string]string{}
				}
				row[slot], long[slot] = truncate(text), text
			default:
				row[slot] = value
			}
		}
	}
	if long != nil {
		row[LongTexts] = long
	}
	return row
}

// truncate returns the part of a long text that a column of contact_slots holds. It
// consists of complete characters. It is longer than TextBytes, so that it never equals a
// text that the column holds completely.
func truncate(text string) string {
	end := TextBytes + 1
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[:end]
}

// Add inserts empty rows of contact_slots for contacts without attributes. It does not
// change existing rows.
func Add(ctx context.Context, db *engine.DB, orgID string, contactIDs []string) error {
	if len(contactIDs) == 0 {
		return nil
	}
	return engine.ExecRows(ctx, db, addSlots, orgID, contactIDs)
}
