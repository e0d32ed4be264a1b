// Package replay remembers what must not happen twice: the calls that carried an
// idempotency key, and the confirmations that were used. It owns the records, the
// store's contract and the knowledge which process still works on a reservation; the
// rails in guardrails decide when to use them.
package replay

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Lease is how long a reservation holds a key at most for a call that never finished.
// It is the last resort: reservations end earlier with their process, see [Process].
const Lease = 60 * time.Second

// Key names one remembered call. Space separates explicit keys from derived
// ones, and one endpoint or tool from another: "rest:contacts_create",
// "agent:contacts_upsert", "derived:contacts_upsert".
type Key struct {
	OrgID string
	Space string
	Key   string
}

// Token tells one reservation of a key from every other. Without it, a caller
// whose lease ran out could not be told from the one who took the key over, when
// both make the same call.
type Token string

// NewToken is a token that no other reservation has.
func NewToken() Token { return Token(core.NewID()) }

// Claim is what a caller reserves a key with.
type Claim struct {
	// Token is the caller's; with "" the store makes one.
	Token Token
	// Digest is of the arguments of the call.
	Digest string
	// Process holds the reservation; see [Process]. "" is a process that nothing is
	// known of, whose reservations end with their lease.
	Process string
	// From is a reservation whose process has ended: the claim takes the key over from
	// it although its lease runs. "" takes over from no such reservation.
	From Token
}

// Record is what is known about a key.
type Record struct {
	// Token is the caller's own reservation. It is set only when Reserve was won.
	Token Token
	// Digest is of the arguments the key was first used with.
	Digest string
	// Done is false while the call that reserved the key is still running.
	Done bool
	// Holder and Process are the reservation that is in the way and whose it is, unless
	// Done.
	Holder  Token
	Process string
	// Result is the operation's result as JSON, present when Done.
	Result []byte
}

// Outcome is what Complete remembers.
type Outcome struct {
	// Result is the operation's result as JSON.
	Result []byte
	// Expires is when the result is forgotten.
	Expires time.Time
	// Subject is the id of a record: the result is forgotten earlier, when Caller next
	// writes to it. "" means that no write ends it.
	Subject string
	Caller  string
}

// Store keeps the records. Both databases give the same answers under
// concurrency: of any number of callers that reserve one key at once, exactly
// one gets won = true.
type Store interface {
	// Reserve claims the key until now+Lease, in a short transaction of its own.
	// won is true when the key was free, expired, or its lease had run out, or when it
	// was held by the reservation that the claim comes from; record then holds the
	// Token that Complete and Release ask for. Otherwise record is what the key's owner
	// left there. After an error the key may be reserved all the same: the caller
	// releases the token of its claim.
	Reserve(ctx context.Context, k Key, claim Claim, now time.Time) (record Record, won bool, err error)
	// Complete stores the outcome, in the transaction of its context. It fails when
	// another caller has taken the reservation over, which rolls the transaction back.
	Complete(ctx context.Context, k Key, token Token, outcome Outcome) error
	// Release gives up a reservation whose call stored nothing. One that was lost
	// or completed meanwhile stays as it is.
	Release(ctx context.Context, k Key, token Token) error
	// Supersede forgets the results of a caller about these subjects, in the
	// transaction of the write to them. SupersedeAll forgets those about any subject.
	Supersede(ctx context.Context, orgID, caller string, subjects []string) error
	SupersedeAll(ctx context.Context, orgID, caller string) error
	// Spend records that the confirmation with this id was used, in the
	// transaction of its context. fresh is false when it was used before.
	Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (fresh bool, err error)
	// Purge forgets what expired before now and returns how many records that was.
	Purge(ctx context.Context, now time.Time) (int, error)
}
