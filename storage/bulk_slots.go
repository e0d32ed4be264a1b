package storage

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

// New contacts have no slots that could conflict, and omitting that check saves much of
// the work. So does omitting columns: attributes get the first free ones, and most
// organizations have only a few attributes.
var (
	fewSlots = []string{"s1", "s2", "s3", "s4", "n1", "n2", "n3", "n4", "t1", "t2"}

	insertFewSlots = engine.Register("insert few slots", insertSlotsText(fewSlots))
	insertAllSlots = engine.Register("insert all slots", insertSlotsText(slots.Columns()))
)

func insertSlotsText(columns []string) string {
	names := append(slices.Clone(columns), slots.LongTexts)
	read := make([]string, len(names))
	for i, name := range names {
		read[i] = slotColumn(name)
	}
	return `
		INSERT INTO contact_slots (org_id, contact_id, ` + strings.Join(names, ", ") + `)
		SELECT CAST($1 AS text), j.v ->> 'c', ` + strings.Join(read, ", ") + `
		FROM ` + engine.ParameterRows(`$2`)
}

// slotParameter returns the slots of new contacts as rows of a parameter, "" if there are
// none.
func (r *registry) slotParameter(contacts []contacts.Contact) (string, error) {
	if len(contacts) == 0 {
		return "", nil
	}
	rows := make([]map[string]any, len(contacts))
	for i, c := range slotted(contacts) {
		rows[i] = r.slots(c)
	}
	return engine.JSONParameter(rows)
}

// insertSlots stores the slots of new contacts.
func (s slotStore) insertSlots(ctx context.Context, orgID string, r *registry, parameter string) error {
	if parameter == "" {
		return nil
	}
	_, err := s.db.Exec(ctx, r.slotInsertion(), orgID, parameter)
	return err
}

// slotInsertion returns the shortest statement that stores every slot in use by an
// attribute.
func (r *registry) slotInsertion() *engine.Statement {
	for _, row := range r.rows {
		for _, slot := range []string{row.Slot, row.Filling} {
			if slot != "" && !slices.Contains(fewSlots, slot) {
				return insertAllSlots
			}
		}
	}
	return insertFewSlots
}
