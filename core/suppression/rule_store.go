package suppression

import (
	"context"
	"time"
)

// RuleStore stores the rules for undeliverable addresses, and the position of the job that
// applies changed rules to all addresses. Every method takes part in the transaction of
// ctx and sees only the given organization.
type RuleStore interface {
	// Rules returns the organization's rules for undeliverable addresses. If none are
	// stored, it returns the rules of the profile Standard.
	Rules(ctx context.Context, orgID string) (Rules, error)
	// HoldRules returns the rules and locks them until the transaction ends. Until then,
	// other transactions that call HoldRules for the organization wait.
	HoldRules(ctx context.Context, orgID string) (Rules, error)
	// SetRules stores the rules and records that all addresses must be judged again.
	SetRules(ctx context.Context, orgID string, r Rules, at time.Time) error
	// JudgedTo returns the position of the job that applies the rules to all addresses
	// again. The job visits the addresses in the order of their keys. The position is the
	// last key that the job has processed: "" at the start, nil if the job has finished.
	JudgedTo(ctx context.Context, orgID string) (*string, error)
	SetJudgedTo(ctx context.Context, orgID string, key *string) error
}
