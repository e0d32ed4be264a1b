package bulk

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core/contacts"
)

// PlanOfRow returns the contacts.Plan (the description of a write of one contact) to which
// a JSON row of a bulk write is converted.
func (b *Bulk) PlanOfRow(ctx context.Context, org, row string) (contacts.Plan, error) {
	rows, _, err := b.readRows(ctx, org, Chunk{Rows: []json.RawMessage{json.RawMessage(row)}})
	if err != nil || len(rows) == 0 {
		return contacts.Plan{}, err
	}
	return rows[0].plan, nil
}
