// Package replay stores the calls that had an idempotency key, and the confirmations that
// were used, so that neither takes effect twice. It owns the records and the interface of
// the store. It also determines which processes still work on a reservation. The rails in
// guardrails decide when to use it.
package replay

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Lease is the longest time for which a reservation holds a key if its call never ends.
// Reservations usually end earlier, with their process; see [Process].
const Lease = 60 * time.Second

// Key identifies one remembered call. Space separates explicit keys from derived ones, and
// one endpoint or tool from another: "rest:contacts_create", "agent:contacts_upsert",
// "derived:contacts_upsert".
type Key struct {
	OrgID string
	Space string
	Key   string
}

// Token identifies one reservation of a key. It distinguishes a caller whose lease has
// expired from the caller that took the key over.
type Token string

// NewToken returns a new token.
func NewToken() Token { return Token(core.NewID()) }

// Claim is an attempt to reserve a key.
type Claim struct {
	// Token is the caller's token; for "" the store makes one.
	Token Token
	// Digest is the digest of the call's arguments.
	Digest string
	// Process has the reservation; see [Process]. For "", an unknown process, the
	// reservation ends with its lease.
	Process string
	// From is a reservation of a process that has ended. The claim takes its key over even
	// if its lease has not expired. "" takes over nothing.
	From Token
}

// Record is what is stored for a key.
type Record struct {
	// Token is the caller's own reservation. It is set only when Reserve returned won.
	Token Token
	// Digest is the digest of the arguments with which the key was first used.
	Digest string
	// Done is false while the call that reserved the key still runs.
	Done bool
	// Holder is the reservation that has the key, and Process its process. Both are "" when
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
	// Expires is the time when the result is deleted.
	Expires time.Time
	// Subject is the id of a record. The caller's next write to that record deletes the
	// result earlier. "" means that no write does.
	Subject string
	Caller  string
}

// Store stores the records. Both databases behave the same under concurrency: of any number
// of callers that reserve one key at once, exactly one gets won = true.
type Store interface {
	// Reserve claims the key until now+Lease, in a short separate transaction. won is true
	// when the key was free or expired, when its lease had expired, or when the reservation
	// in claim.From had it. record then has the Token for Complete and Release. Otherwise
	// record is that of the key's owner. After an error the key may still be reserved, so
	// the caller must release the token of its claim.
	Reserve(ctx context.Context, k Key, claim Claim, now time.Time) (record Record, won bool, err error)
	// Complete stores the outcome, in the transaction of its context. It fails when another
	// caller has taken the reservation over, so that the transaction is rolled back.
	Complete(ctx context.Context, k Key, token Token, outcome Outcome) error
	// Release releases a reservation whose call stored nothing. It does not change a
	// reservation that was taken over or completed.
	Release(ctx context.Context, k Key, token Token) error
	// Supersede deletes the results of a caller about these subjects, in the transaction of
	// the write to them. SupersedeAll deletes the results about any subject.
	Supersede(ctx context.Context, orgID, caller string, subjects []string) error
	SupersedeAll(ctx context.Context, orgID, caller string) error
	// Spend stores that the confirmation with this id was used, in the transaction of its
	// context. fresh is false when it was used before.
	Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (fresh bool, err error)
	// Purge deletes records that expired before now and returns their number.
	Purge(ctx context.Context, now time.Time) (int, error)
}
