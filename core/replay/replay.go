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

// Lease bounds how long a reservation holds a key for a call that never finished.
// Reservations usually end earlier, with their process; see [Process].
const Lease = 60 * time.Second

// Key names one remembered call. Space separates explicit keys from derived
// ones, and one endpoint or tool from another: "rest:contacts_create",
// "agent:contacts_upsert", "derived:contacts_upsert".
type Key struct {
	OrgID string
	Space string
	Key   string
}

// Token distinguishes the reservations of a key. Without it, a caller whose lease ran out
// and the caller who took the key over would look the same.
type Token string

// NewToken returns a token that no other reservation has.
func NewToken() Token { return Token(core.NewID()) }

// Claim is an attempt to reserve a key.
type Claim struct {
	// Token is the caller's; with "" the store makes one.
	Token Token
	// Digest is of the arguments of the call.
	Digest string
	// Process holds the reservation; see [Process]. "" is a process that nothing is
	// known of, whose reservations end with their lease.
	Process string
	// From is a reservation of a process that has ended: the claim takes the key over
	// although its lease runs. "" takes nothing over.
	From Token
}

// Record is what is stored for a key.
type Record struct {
	// Token is the caller's own reservation. It is set only when Reserve was won.
	Token Token
	// Digest is of the arguments the key was first used with.
	Digest string
	// Done is false while the call that reserved the key still runs.
	Done bool
	// Holder and Process are the reservation that holds the key, and its process, unless
	// Done.
	Holder  Token
	Process string
	// Result is the operation's result as JSON, present when Done.
	Result []byte
}

// Outcome is what Complete stores.
type Outcome struct {
	// Result is the operation's result as JSON.
	Result []byte
	// Expires is when the result is deleted.
	Expires time.Time
	// Subject is the id of a record. Caller's next write to that record deletes the result
	// earlier. "" means that no write does.
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
	// Complete stores the outcome, in the transaction of its context. It fails, and so rolls
	// the transaction back, when another caller has taken the reservation over.
	Complete(ctx context.Context, k Key, token Token, outcome Outcome) error
	// Release frees a reservation whose call stored nothing. A reservation that was taken
	// over or completed stays unchanged.
	Release(ctx context.Context, k Key, token Token) error
	// Supersede deletes the results of a caller about these subjects, in the transaction of
	// the write to them. SupersedeAll deletes those about any subject.
	Supersede(ctx context.Context, orgID, caller string, subjects []string) error
	SupersedeAll(ctx context.Context, orgID, caller string) error
	// Spend records that the confirmation with this id was used, in the
	// transaction of its context. fresh is false when it was used before.
	Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (fresh bool, err error)
	// Purge deletes what expired before now and returns the number of records.
	Purge(ctx context.Context, now time.Time) (int, error)
}
