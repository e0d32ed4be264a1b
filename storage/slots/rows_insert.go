package slots

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// Rows of contact_slots for new contacts are inserted without ON CONFLICT, because that is
// much faster. A statement with fewer columns is faster too. Attributes get the first free
// columns and most organizations have few attributes, so insertFewSlots usually suffices.
var (
	fewSlots = []string{"s1", "s2", "s3", "s4", "n1", "n2", "n3", "n4", "t1", "t2"}

	insertFewSlots = engine.Register("insert few slots", insertSlotsText(fewSlots))
	insertAllSlots = engine.Register("insert all slots", insertSlotsText(Columns()))
)

// insertSlotsText returns the SQL that inserts rows of contact_slots with the given columns
// and the column LongTexts. The SQL fails if a contact has a row already.
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

// NewRows returns the rows of contact_slots of new, active contacts as a JSON parameter for
// [Registry.Insertion], or "" without contacts.
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

// Insert stores rows that NewRows returned. It does nothing for "".
func (r *Registry) Insert(ctx context.Context, db *engine.DB, orgID, rows string) error {
	if rows == "" {
		return nil
	}
	_, err := db.Exec(ctx, r.Insertion(), orgID, rows)
	return err
}

// Insertion returns the statement that inserts rows of contact_slots. If the shorter of two
// statements has all columns that attributes use, it returns the shorter one. The
// statement's parameters are the organization and the result of NewRows.
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
