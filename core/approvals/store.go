package approvals

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores approvals. Every method sees only the given organization and takes part in
// the transaction of its context.
type Store interface {
	Insert(ctx context.Context, orgID string, a Approval) error
	// Approval fails with core.CodeNotFound for an unknown id.
	Approval(ctx context.Context, orgID, id string) (Approval, error)
	// Latest returns the latest approval of each of the broadcasts that has one, in any state.
	Latest(ctx context.Context, orgID string, broadcastIDs []string) ([]Approval, error)
	// End stores the state and the decision of an approval that waits. It reports false, and
	// changes nothing, if the approval does not wait any more.
	End(ctx context.Context, orgID string, a Approval) (bool, error)
	// Find returns one page of approvals, newest first by time and id, without those in the
	// state Unneeded.
	Find(ctx context.Context, orgID string, f Filter) ([]Approval, error)
	// CountWaiting returns the number of approvals that wait and end after now.
	CountWaiting(ctx context.Context, orgID string, now time.Time) (int, error)
	// Overdue returns up to limit approvals that wait and should have ended by now.
	Overdue(ctx context.Context, orgID string, now time.Time, limit int) ([]Approval, error)
}

// Filter selects a page of approvals.
type Filter struct {
	// Waiting selects those that wait, else those with a decision.
	Waiting bool
	After   *core.After
	Limit   int
}

// PolicyStore stores policies. Every method sees only the given organization and takes part
// in the transaction of its context.
type PolicyStore interface {
	// Policies returns all policies of the organization.
	Policies(ctx context.Context, orgID string) ([]Policy, error)
	// SavePolicy stores a policy in the place of the previous one. The rule Inherit removes
	// it.
	SavePolicy(ctx context.Context, orgID string, p Policy) error
}
