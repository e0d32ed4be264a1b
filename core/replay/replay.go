// Package replay remembers what must not happen twice: the calls that carried an
// idempotency key, and the confirmations that were used. It owns the records
// and the store's contract; the rails in guardrails decide when to use them.
package replay

import (
	"context"
	"time"
)

// Lease is how long a reservation holds a key for a call that never finished. A
// crash between reservation and commit frees the key after it.
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

// Record is what is known about a key.
type Record struct {
	// Token is the caller's own reservation. It is set only when Reserve was won.
	Token Token
	// Digest is of the arguments the key was first used with.
	Digest string
	// Done is false while the call that reserved the key is still running.
	Done bool
	// Result is the operation's result as JSON, present when Done.
	Result []byte
}

// Store keeps the records. Both databases give the same answers under
// concurrency: of any number of callers that reserve one key at once, exactly
// one gets won = true.
type Store interface {
	// Reserve claims the key until now+Lease, in a short transaction of its own.
	// won is true when the key was free, expired, or its lease had run out;
	// record then holds the Token that Complete and Release ask for. Otherwise
	// record is what the key's owner left there.
	Reserve(ctx context.Context, k Key, digest string, now time.Time) (record Record, won bool, err error)
	// Complete stores the result, in the transaction of its context, to be
	// remembered until expires. It fails when the reservation was lost to
	// another caller meanwhile, which rolls the transaction back.
	Complete(ctx context.Context, k Key, token Token, result []byte, now, expires time.Time) error
	// Release gives up a reservation whose call stored nothing. One that was lost
	// or completed meanwhile stays as it is.
	Release(ctx context.Context, k Key, token Token) error
	// Spend records that the confirmation with this id was used, in the
	// transaction of its context. fresh is false when it was used before.
	Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (fresh bool, err error)
	// Purge forgets what expired before now and returns how many records that was.
	Purge(ctx context.Context, now time.Time) (int, error)
}
