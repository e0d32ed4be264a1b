package handover

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// OutcomeFilter selects a page of recipients that have an outcome.
type OutcomeFilter struct {
	// State is the outcome; "" means every outcome.
	State State
	// Part selects recipients whose address contains this text, ignoring case; "" selects all.
	Part string
	// After is the position (At and Key) after which the page begins; nil for the first page.
	After *core.After
	Limit int
}

// OutcomeStore reads the outcomes of sends. Every method sees only the given organization
// and takes part in the transaction of its context.
type OutcomeStore interface {
	// Outcomes returns recipients with an outcome, the latest first.
	Outcomes(ctx context.Context, orgID, sendID string, f OutcomeFilter) ([]Recipient, error)
	// Counts returns the numbers of recipients of a send, by state.
	Counts(ctx context.Context, orgID, sendID string) (map[State]int, error)
	// Tiers returns the numbers of filtered recipients of a send, by tier.
	Tiers(ctx context.Context, orgID, sendID string) (map[Tier]int, error)
	// Unresolved returns the time of the oldest claim whose outcome is unknown, and the
	// earliest time at which a pending recipient may be claimed; zero for none.
	Unresolved(ctx context.Context, orgID, sendID string) (claimedAt, pendingAt time.Time, err error)
}
