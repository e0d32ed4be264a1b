package storage

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// The log of memberships is one for lists and segments: who entered and who left.

var (
	insertTransitions = engine.Register("log transitions", `
		INSERT INTO membership_log (org_id, occurred_at, id, set_kind, set_id, contact_id, entered)
		SELECT $1, CAST($2 AS bigint), v ->> 'id', v ->> 'kind', v ->> 'set', v ->> 'contact', CAST(v ->> 'entered' AS boolean)
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE`)
	transitionsPage = engine.Register("transitions page", `
		SELECT occurred_at, id, set_kind, set_id, contact_id, entered FROM membership_log
		WHERE org_id = $1 AND (occurred_at, id) > ($2, $3)
		ORDER BY occurred_at, id LIMIT $4`)
)

// inSet is one contact in one list or segment, in parameters and in what
// statements return.
type inSet struct {
	Contact string `json:"contact" db:"contact_id"`
	Set     string `json:"set" db:"set_id"`
}

// loggedTransition is an element of the parameter of logTransitions.
type loggedTransition struct {
	inSet
	ID      string        `json:"id"`
	Kind    lists.SetKind `json:"kind"`
	Entered bool          `json:"entered"`
}

// logTransitions writes who left and who entered sets of a kind.
func logTransitions(ctx context.Context, db *engine.DB, orgID string, kind lists.SetKind, left, entered []inSet, at time.Time) error {
	if len(left)+len(entered) == 0 {
		return nil
	}
	lines := make([]loggedTransition, 0, len(left)+len(entered))
	for _, m := range left {
		lines = append(lines, loggedTransition{m, core.NewID(), kind, false})
	}
	for _, m := range entered {
		lines = append(lines, loggedTransition{m, core.NewID(), kind, true})
	}
	parameter, err := engine.JSONParameter(lines)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, insertTransitions, orgID, engine.At(at), parameter)
	return err
}

type transitionRow struct {
	OccurredAt engine.Time   `db:"occurred_at"`
	ID         string        `db:"id"`
	SetKind    lists.SetKind `db:"set_kind"`
	SetID      string        `db:"set_id"`
	ContactID  string        `db:"contact_id"`
	Entered    bool          `db:"entered"`
}

func (s audienceStore) MembershipLog(ctx context.Context, orgID string, after *core.After, limit int) ([]lists.Transition, error) {
	var at engine.Time
	var id string
	if after != nil {
		at, id = engine.At(after.At), after.ID
	}
	rows, err := engine.List[transitionRow](ctx, s.db, transitionsPage, orgID, at, id, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]lists.Transition, len(rows))
	for i, r := range rows {
		lines[i] = lists.Transition{
			ID: r.ID, At: r.OccurredAt.Time(), Kind: r.SetKind, SetID: r.SetID, ContactID: r.ContactID, Entered: r.Entered,
		}
	}
	return lines, nil
}
