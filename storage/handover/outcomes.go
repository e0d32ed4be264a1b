package handover

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// OutcomeStore reads the outcomes of sends.
type OutcomeStore struct{ db *engine.DB }

var _ handover.OutcomeStore = OutcomeStore{}

// NewOutcomeStore returns the store of outcomes on the database.
func NewOutcomeStore(db *engine.DB) OutcomeStore { return OutcomeStore{db} }

// pageOfState selects a page of the recipients in one state, through the index
// handover_recipients_outcomes. place is the position after which it begins, more a further
// condition, and limit the parameter of the limit.
func pageOfState(state, place, more, limit string) string {
	return `SELECT ` + recipientColumns + ` FROM handover_recipients
		WHERE org_id = $1 AND send_id = $2 AND state = ` + state + ` AND (changed_at, recipient) < (` + place + `)` + more + `
		ORDER BY changed_at DESC, recipient DESC LIMIT ` + limit
}

// pageOfAll selects a page of the recipients in all states of outcomes. It reads a page of
// each state, because the index begins with the state.
func pageOfAll(more, limit string) string {
	all := `SELECT * FROM (` + pageOfState(`'sent'`, `$3, $4`, more, limit) + `) AS a
		UNION ALL SELECT * FROM (` + pageOfState(`'failed'`, `$3, $4`, more, limit) + `) AS b
		UNION ALL SELECT * FROM (` + pageOfState(`'filtered'`, `$3, $4`, more, limit) + `) AS c`
	return `SELECT * FROM (` + all + `) AS o ORDER BY changed_at DESC, recipient DESC LIMIT ` + limit
}

// hasPart returns the condition that the address matches the LIKE pattern in a parameter.
func hasPart(parameter string) string { return ` AND lower(email) LIKE ` + parameter + ` ESCAPE '\'` }

var (
	outcomesPage     = engine.Register("outcomes page", pageOfAll("", "$5"))
	outcomesOfState  = engine.Register("outcomes page of a state", pageOfState("$3", "$4, $5", "", "$6"))
	searchOutcomes   = engine.Register("search outcomes", pageOfAll(hasPart("$5"), "$6"))
	searchOutcomesOf = engine.Register("search outcomes of a state", pageOfState("$3", "$4, $5", hasPart("$6"), "$7"))
	countRecipients  = engine.Register("count recipients", `
		SELECT state, count(*) AS recipients FROM handover_recipients WHERE org_id = $1 AND send_id = $2 GROUP BY state`)
	countTiers = engine.Register("count filtered recipients", `
		SELECT tier, count(*) AS recipients FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND state = 'filtered' GROUP BY tier`)
	oldestClaim = engine.Register("oldest claim of a send", `
		SELECT changed_at FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND state = 'handing_over' ORDER BY changed_at LIMIT 1`)
	firstPending = engine.Register("first pending recipient of a send", `
		SELECT not_before FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND state = 'pending' ORDER BY not_before LIMIT 1`)
)

func (s OutcomeStore) Outcomes(ctx context.Context, orgID, sendID string, f handover.OutcomeFilter) ([]handover.Recipient, error) {
	at, key := engine.PageStart(f.After)
	pattern, state := engine.SearchPattern(f.Part), string(f.State)
	statement, args := outcomesPage, []any{orgID, sendID, at, key, f.Limit}
	switch {
	case f.State != "" && f.Part != "":
		statement, args = searchOutcomesOf, []any{orgID, sendID, state, at, key, pattern, f.Limit}
	case f.State != "":
		statement, args = outcomesOfState, []any{orgID, sendID, state, at, key, f.Limit}
	case f.Part != "":
		statement, args = searchOutcomes, []any{orgID, sendID, at, key, pattern, f.Limit}
	}
	return engine.ListAs(ctx, s.db, recipientOf(sendID), statement, args...)
}

func (s OutcomeStore) Counts(ctx context.Context, orgID, sendID string) (map[handover.State]int, error) {
	type row struct {
		State      handover.State `db:"state"`
		Recipients int            `db:"recipients"`
	}
	rows, err := engine.List[row](ctx, s.db, countRecipients, orgID, sendID)
	counts := map[handover.State]int{}
	for _, r := range rows {
		counts[r.State] = r.Recipients
	}
	return counts, err
}

func (s OutcomeStore) Tiers(ctx context.Context, orgID, sendID string) (map[handover.Tier]int, error) {
	type row struct {
		Tier       handover.Tier `db:"tier"`
		Recipients int           `db:"recipients"`
	}
	rows, err := engine.List[row](ctx, s.db, countTiers, orgID, sendID)
	counts := map[handover.Tier]int{}
	for _, r := range rows {
		counts[r.Tier] = r.Recipients
	}
	return counts, err
}

func (s OutcomeStore) Unresolved(ctx context.Context, orgID, sendID string) (claimedAt, pendingAt time.Time, err error) { //nolint:nonamedreturns // says which
	if claimedAt, err = s.first(ctx, oldestClaim, orgID, sendID); err != nil {
		return time.Time{}, time.Time{}, err
	}
	pendingAt, err = s.first(ctx, firstPending, orgID, sendID)
	return claimedAt, pendingAt, err
}

// first returns the time that the statement selects, zero for none.
func (s OutcomeStore) first(ctx context.Context, statement *engine.Statement, orgID, sendID string) (time.Time, error) {
	found, err := engine.Values[engine.Time](ctx, s.db, statement, orgID, sendID)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0].Time(), nil
}
