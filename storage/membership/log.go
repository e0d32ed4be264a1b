package membership

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var insertTransitions = engine.Register("log transitions", `
	INSERT INTO membership_log (org_id, occurred_at, id, set_kind, set_id, contact_id, entered)
	SELECT $1, CAST($2 AS bigint), v ->> 'id', v ->> 'kind', v ->> 'set', v ->> 'contact', CAST(v ->> 'entered' AS boolean)
	FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE`)

// InSet is a contact in a list or segment (a set). It is used in parameters and results of
// statements.
type InSet struct {
	Contact string `json:"contact" db:"contact_id"`
	Set     string `json:"set" db:"set_id"`
}

// loggedTransition is an element of the JSON parameter of insertTransitions.
type loggedTransition struct {
	InSet
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Entered bool   `json:"entered"`
}

// Log inserts into the membership log which contacts left and entered lists or segments,
// with the given time. kind is "list" or "segment".
func Log(ctx context.Context, db *engine.DB, orgID string, kind string, exited, entered []InSet, at time.Time) error {
	if len(exited)+len(entered) == 0 {
		return nil
	}
	lines := make([]loggedTransition, 0, len(exited)+len(entered))
	for _, m := range exited {
		lines = append(lines, loggedTransition{m, core.NewID(), kind, false})
	}
	for _, m := range entered {
		lines = append(lines, loggedTransition{m, core.NewID(), kind, true})
	}
	parameter, err := engine.JSONParameter(lines)
	if err != nil {
		return err
	}
	return db.Later(ctx, insertTransitions, orgID, engine.At(at), parameter)
}
