package audience

import (
	"context"
	"encoding/json"
)

// PlanIn returns the plan that Prepare left in the input of a write.
func PlanIn(in any) Plan {
	switch in := in.(type) {
	case CreateContactIn:
		return in.write.Plan
	case ReplaceContactIn:
		return in.write.Plan
	case UpdateContactIn:
		return in.write.Plan
	case UpsertContactIn:
		return in.write.Plan
	case UpsertByExternalIDIn:
		return in.write.Plan
	case IdentifyContactIn:
		return in.write.Plan
	}
	panic("no write of a contact")
}

// PlanOfRow returns the plan of a row of a bulk write or an import.
func (a *Audience) PlanOfRow(ctx context.Context, org, row string) (Plan, error) {
	rows, _, err := a.readRows(ctx, org, BulkChunk{Rows: []json.RawMessage{json.RawMessage(row)}})
	if err != nil || len(rows) == 0 {
		return Plan{}, err
	}
	return rows[0].plan, nil
}
