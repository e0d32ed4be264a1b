package attributes

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/slots"
)

var (
	// setFilling assigns a column of contact_slots to an attribute. The background pass over
	// the contacts must first fill the column; until then predicates do not read it.
	setFilling = engine.Register("set filling", `UPDATE attributes SET filling = $1 WHERE org_id = $2 AND id = $3`)
	// setSlot assigns a column of contact_slots to an attribute while no pass over the
	// contacts is due. Predicates may read the column at once, because it is empty and no
	// contact has a value of the attribute.
	setSlot = engine.Register("set slot", `UPDATE attributes SET slot = $1 WHERE org_id = $2 AND id = $3`)
)

// assignSlots assigns free columns of contact_slots to attributes without a column, oldest
// attribute first. While a pass over the contacts is due, a free column may still contain
// values of another attribute. In that case assignSlots stores the column in the
// attribute's field filling, not in slot. Predicates read the column only after the pass.
func assignSlots(ctx context.Context, db *engine.DB, orgID string) error {
	r, err := slots.ReadRegistry(ctx, db, orgID)
	if err != nil {
		return err
	}
	due, err := engine.List[passRow](ctx, db, passOf, orgID)
	if err != nil {
		return err
	}
	give := setSlot
	if len(due) > 0 {
		give = setFilling
	}
	free := slots.Columns()
	for _, row := range r.Rows {
		free = slices.DeleteFunc(free, func(slot string) bool { return slot == row.Slot || slot == row.Filling })
	}
	slices.SortFunc(r.Rows, func(a, b slots.AttributeRow) int {
		if a.CreatedAt != b.CreatedAt {
			return int(a.CreatedAt - b.CreatedAt)
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, row := range r.Rows {
		if row.Slot != "" || row.Filling != "" {
			continue
		}
		kind := r.Attributes[row.Name].SlotKind()
		i := slices.IndexFunc(free, func(slot string) bool { return strings.HasPrefix(slot, kind) })
		if i < 0 {
			continue
		}
		if _, err := db.Exec(ctx, give, free[i], orgID, row.ID); err != nil {
			return err
		}
		free = slices.Delete(free, i, i+1)
	}
	return nil
}
