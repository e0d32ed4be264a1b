// Package replay stores the results of calls with an idempotency key, so that a repeated
// call has no second effect. It also stores which confirmations were used, so that each is
// used only once. A call first reserves its key; see [Store]. The package also determines
// whether the process that made a reservation still runs. Package guardrails decides which
// calls use package replay.
package replay

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Lease is the longest time for which a running call reserves its idempotency key; see
// [Process].
const Lease = 60 * time.Second

// Key identifies one stored call. Space separates the keys of different endpoints and
// tools, such as "rest:contacts_create" and "agent:contacts_upsert". Keys that Mailhelm
// derives for calls without an idempotency key have spaces of their own, such as
// "derived:contacts_upsert".
type Key struct {
	OrgID string
	Space string
	Key   string
}

// Token identifies one reservation of an idempotency key. Each reservation has a different
// token.
type Token string

// NewToken returns a new token.
func NewToken() Token { return Token(core.NewID()) }

// Claim has the arguments of an attempt to reserve an idempotency key.
type Claim struct {
	// Token is the token of the new reservation. If it is "", the store makes one.
	Token Token
	// Digest is the digest of the call's arguments.
	Digest string
	// Process is the id of the calling process. If it is "", only the lease ends the
	// reservation; see [Process].
	Process string
	// From is the token of a reservation that no process uses any more; see [Verdict]. If
	// this reservation holds the key, the claim takes the key over before the lease
	// expires. If From is "", the claim takes the key over only after the lease has
	// expired.
	From Token
}

// Record is the stored state of an idempotency key.
type Record struct {
	// Token is the token of the new reservation, set only if Reserve reserved the key.
	Token Token
	// Digest is the digest of the arguments with which the key was first used.
	Digest string
	// Done is true if the call has completed and its result is stored.
	Done bool
	// Holder is the token of the reservation that currently has the key. Process is the id
	// of the process that made the reservation. Both are "" if Done is true or if Reserve
	// reserved the key.
	Holder  Token
	Process string
	// Result is the operation's result as JSON. It is set if Done is true.
	Result []byte
}

// Outcome is what Complete stores.
type Outcome struct {
	// Result is the operation's result as JSON.
	Result []byte
	// Expires is the time from which the result is no longer used.
	Expires time.Time
	// CalledAt is the time of a call whose idempotency key its caller chose. The result ends
	// earlier than at Expires if its organization shortens the period; see core/retention. It
	// is the zero time for a key that was derived from the call.
	CalledAt time.Time
	// Subject is the id of the record that the call wrote, or "". The caller's next write to
	// that record deletes the result before it expires.
	Subject string
	Caller  string
}

// Store stores the records of this package. If several callers try to reserve the same
// idempotency key at the same time, exactly one succeeds, on SQLite and on PostgreSQL.
type Store interface {
	// Reserve reserves the key until now+Lease, in a transaction of its own. won is true if
	// it reserved the key: the key was free, its record or lease had expired, or the
	// reservation in claim.From held it. record.Token is then the token for Complete and
	// Release. Otherwise record describes the existing reservation or result. After an error
	// the key may be reserved all the same, so the caller must release claim.Token.
	Reserve(ctx context.Context, k Key, claim Claim, now time.Time) (record Record, won bool, err error)
	// Complete stores the outcome of a call, in the transaction of ctx. It fails if another
	// call has taken the reservation over, so that this transaction is rolled back.
	Complete(ctx context.Context, k Key, token Token, outcome Outcome) error
	// Release ends the reservation of a call that stored no outcome. It does nothing if the
	// reservation was taken over or completed.
	Release(ctx context.Context, k Key, token Token) error
	// Supersede deletes stored results of the caller: those of earlier calls that wrote to
	// the records in the parameter subjects. It runs in the transaction that writes to these
	// records again. SupersedeAll deletes the caller's stored results about all records.
	Supersede(ctx context.Context, orgID, caller string, subjects []string) error
	SupersedeAll(ctx context.Context, orgID, caller string) error
	// Spend stores that the confirmation with this id was used, in the transaction of ctx.
	// fresh is false if it was used before.
	Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (fresh bool, err error)
	// Purge deletes records that expired before now and returns their number.
	Purge(ctx context.Context, now time.Time) (int, error)
}
