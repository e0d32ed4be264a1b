package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// transitionsPage reads a page of the membership log by primary key, oldest first.
var transitionsPage = engine.Register("transitions page", `
		SELECT occurred_at, id, set_kind, set_id, contact_id, entered FROM membership_log
		WHERE org_id = $1 AND (occurred_at, id) > ($2, $3)
		ORDER BY occurred_at, id LIMIT $4`)

// transitionRow is a row of the membership log: a contact that entered or left a list or a
// segment. Rows are only inserted, never changed.
type transitionRow struct {
	OccurredAt engine.Time   `db:"occurred_at"`
	ID         string        `db:"id"`
	SetKind    lists.SetKind `db:"set_kind"`
	SetID      string        `db:"set_id"`
	ContactID  string        `db:"contact_id"`
	Entered    bool          `db:"entered"`
}

// MembershipLog returns up to limit entries of the membership log after the cursor, oldest
// first. If after is nil, it starts with the oldest entry.
func (s MemberStore) MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]lists.Transition, error) {
	var at engine.Time
	var id string
	if after != nil {
		at, id = engine.At(after.At), after.ID
	}
	return engine.ListAs(ctx, s.db, transitionRow.transition, transitionsPage, orgID, at, id, limit)
}

// transition converts the row to a lists.Transition.
func (r transitionRow) transition() lists.Transition {
	return lists.Transition{
		ID: r.ID, At: r.OccurredAt.Time(), Kind: r.SetKind, SetID: r.SetID, ContactID: r.ContactID, Entered: r.Entered,
	}
}
