package slots

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// New contacts have no slots that could conflict, and omitting that check saves much of
// the work. So does omitting columns: attributes get the first free ones, and most
// organizations have only a few attributes.
var (
	fewSlots = []string{"s1", "s2", "s3", "s4", "n1", "n2", "n3", "n4", "t1", "t2"}

	insertFewSlots = engine.Register("insert few slots", insertSlotsText(fewSlots))
	insertAllSlots = engine.Register("insert all slots", insertSlotsText(Columns()))
)

// insertSlotsText returns the statement that inserts rows with these columns and the long
// texts. It fails if a contact has a row.
func insertSlotsText(columns []string) string {
	names := append(slices.Clone(columns), LongTexts)
	read := make([]string, len(names))
	for i, name := range names {
		read[i] = slotColumn(name)
	}
	return `
		INSERT INTO contact_slots (org_id, contact_id, ` + strings.Join(names, ", ") + `)
		SELECT CAST($1 AS text), j.v ->> 'c', ` + strings.Join(read, ", ") + `
		FROM ` + engine.ParameterRows(`$2`)
}

// NewRows returns the slots of new contacts as a parameter of [Registry.Insertion], "" if
// there are none. It expects contacts that are active.
func (r *Registry) NewRows(contacts []Contact) (string, error) {
	if len(contacts) == 0 {
		return "", nil
	}
	rows := make([]map[string]any, len(contacts))
	for i, c := range contacts {
		rows[i] = r.row(c)
	}
	return engine.JSONParameter(rows)
}

// Insert stores the slots of new contacts, as NewRows returned them.
func (r *Registry) Insert(ctx context.Context, db *engine.DB, orgID, rows string) error {
	if rows == "" {
		return nil
	}
	_, err := db.Exec(ctx, r.Insertion(), orgID, rows)
	return err
}

// Insertion returns the shortest statement that stores every slot in use by an attribute.
// Its parameters are the organization and the rows.
func (r *Registry) Insertion() *engine.Statement {
	for _, row := range r.Rows {
		for _, slot := range []string{row.Slot, row.Filling} {
			if slot != "" && !slices.Contains(fewSlots, slot) {
				return insertAllSlots
			}
		}
	}
	return insertFewSlots
}
