package activities

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ErrClaims is wrapped by errors of ClaimKeys and ClaimOnce if the stored claims of earlier
// activities cannot be read: their idempotency keys, or their pairs of contact and name. A
// retry of the transaction would not help. The transaction stays usable, and the failed
// call has stored nothing.
var ErrClaims = errors.New("the deduplication of activities is not available")

// Store stores activities, and the used idempotency keys by which duplicates are found.
// Every method takes part in the transaction of its context, and reads and writes only the
// data of the given organization.
type Store interface {
	// EmailKey returns the normalized form of an address by which contacts are found. Two
	// contacts of an organization never have the same key.
	EmailKey(email string) string
	// Identify returns the contacts that have one of the email keys or external ids,
	// including archived contacts. Keys and ids without a contact are skipped.
	Identify(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]Person, error)
	// InsertStubs creates a stub for each person whose address and external id belong to no
	// contact yet. It returns how many stubs it created.
	InsertStubs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)
	// BindExternalIDs sets the external id of each person's contact. It skips a contact that
	// has an external id, and an external id that another contact has. It returns how many
	// external ids it set.
	BindExternalIDs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)

	// ClaimKeys stores that activities have used their idempotency keys; expires is the time
	// until which the keys stay used. If another activity has already used a key, ClaimKeys
	// returns that activity's claim under the key and stores nothing for the key. It may
	// fail with ErrClaims.
	ClaimKeys(ctx context.Context, orgID string, claims []KeyClaim, now, expires time.Time) (map[string]KeyClaim, error)
	// ClaimOnce stores pairs of contact and name as used by activities, without expiry. If
	// another activity already uses a pair, ClaimOnce returns that activity under the pair.
	// It may fail with ErrClaims.
	ClaimOnce(ctx context.Context, orgID string, claims []OnceClaim, at time.Time) (map[OnceKey]OnceClaim, error)

	// Insert stores activities. Their contacts must belong to the organization.
	Insert(ctx context.Context, orgID string, activities []Activity) error
	// Activities returns one page of activities, newest first. They are ordered by the time
	// at which they happened, then by id.
	Activities(ctx context.Context, orgID string, f Filter) ([]Activity, error)
	// Summaries returns one summary for each activity name of the contact. The name with the
	// latest activity comes first.
	Summaries(ctx context.Context, orgID, contactID string, since Since) ([]Summary, error)
	// DailyCounts counts the activities at or after since that were received at or after
	// received, by their day and name. It reads at most limit activities, the newest.
	DailyCounts(ctx context.Context, orgID string, since, received time.Time, limit int) ([]DayCount, error)
	// ContactAddresses returns the addresses of contacts by id. It skips unknown ids.
	ContactAddresses(ctx context.Context, orgID string, ids []string) (map[string]string, error)
	// ContactByReference returns the id of the contact that has the reference as its id,
	// else as its address, else as its external id. It returns "" if no contact matches.
	ContactByReference(ctx context.Context, orgID, reference string) (string, error)
}

// Person has the identifiers of a contact: id, address and external id.
type Person struct {
	ID string
	// Email is the address as the caller sent it. Only InsertStubs uses it.
	Email    string
	EmailKey string
	// ExternalID is "" if the contact has no external id.
	ExternalID string
}

// KeyClaim is an idempotency key with the activity for which it was first used.
type KeyClaim struct{ Key, ActivityID, ContactID string }

// OnceKey identifies an activity of the mode Once by its contact and its name.
type OnceKey struct{ ContactID, Name string }

// OnceClaim is an OnceKey with the id of the first activity that has it.
type OnceClaim struct {
	OnceKey
	ActivityID string
}

// Filter selects a page of activities. An activity must match all fields that are set.
type Filter struct {
	Name, ContactID string
	// From (inclusive) and To (exclusive) limit the time at which activities happened; nil
	// means no limit.
	From, To *time.Time
	// Received excludes activities that were received before this time; see [keptSince].
	Received time.Time
	After    *core.After
	Limit    int
}

// Since has the start times of the counts in a [Summary].
type Since struct {
	// Recent is the start of the last 30 days, which are counted separately. Activities that
	// were received before Received are not counted at all.
	Recent, Received time.Time
}
