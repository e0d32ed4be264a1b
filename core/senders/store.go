package senders

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores claims. Methods see only the given organization, unless their comments say
// otherwise, and take part in the transaction of ctx. Methods that find one claim fail with
// core.CodeNotFound if there is none.
type Store interface {
	// Claims returns claims of an owner, newest first.
	Claims(ctx context.Context, orgID, owner string, after *core.After, limit int) ([]Claim, error)
	// Claim returns a claim. In a transaction it locks the claim until the transaction ends.
	Claim(ctx context.Context, orgID, id string) (Claim, error)
	// ClaimOf returns the claim of an address, which is in lower case, and locks it like Claim.
	ClaimOf(ctx context.Context, orgID, address string) (Claim, error)
	// InsertClaim stores a claim. It returns false, and stores nothing, if the address has one.
	InsertClaim(ctx context.Context, orgID string, c Claim) (bool, error)
	// UpdateClaim replaces all fields of a claim except its id, its owner and its creation time.
	UpdateClaim(ctx context.Context, orgID string, c Claim) error
	DeleteClaim(ctx context.Context, orgID, id string) error
	// ForgetClaims deletes claims that are not verified and whose code expired before a time, at
	// most limit, and returns their number. It may be repeated until that is less than limit.
	ForgetClaims(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
	// HasVerified reports whether the owner has verified the address, which is in lower case.
	HasVerified(ctx context.Context, orgID, owner, address string) (bool, error)
	// IsActive reports whether the owner is a member of the organization, or has an API key of
	// it that works.
	IsActive(ctx context.Context, orgID, owner string, now time.Time) (bool, error)
}

// StartStore counts starts in all organizations together. The subject of a count is an owner, or
// the hash of an address.
type StartStore interface {
	// AddStart stores a start of a subject at a time, unless one of the limits is reached. It then
	// stores no start and returns when the next one is possible; otherwise the zero time.
	// Concurrent calls for one subject wait for each other. It must be called in a transaction,
	// which must be rolled back if no start was stored.
	AddStart(ctx context.Context, subject string, at time.Time, limits ...StartLimit) (next time.Time, err error)
	// ForgetStarts deletes the counts of subjects without a start since a time, at most limit, and
	// returns their number. It may be repeated until that is less than limit.
	ForgetStarts(ctx context.Context, before time.Time, limit int) (int, error)
}

// StartLimit allows at most Most starts within a duration.
type StartLimit struct {
	Most   int
	Within time.Duration
}
