package activities

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ErrClaims is wrapped by errors of ClaimKeys and ClaimOnce when the claims cannot be read
// and a retry of the transaction would not help. The transaction stays usable, and nothing
// was claimed in it.
var ErrClaims = errors.New("the claims of activities cannot be asked")

// Store stores activities and their claims. Every method takes part in the transaction of
// its context and sees only the given organization.
type Store interface {
	// EmailKey returns the form of an address by which contacts are found. It is unique in
	// an organization.
	EmailKey(email string) string
	// Identify returns the contacts with these keys of addresses and external ids, including
	// archived ones. It omits unknown ones.
	Identify(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]Person, error)
	// InsertStubs creates stubs for those people whose address and external id are both
	// free. It returns how many it created.
	InsertStubs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)
	// BindExternalIDs sets the external id of contacts that have none, if the id is free. It
	// returns how many it set.
	BindExternalIDs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)

	// ClaimKeys claims idempotency keys until the time expires. It returns the valid claims
	// of other activities by key; all other keys are claimed now. It may fail with
	// ErrClaims.
	ClaimKeys(ctx context.Context, orgID string, claims []KeyClaim, now, expires time.Time) (map[string]KeyClaim, error)
	// ClaimOnce claims pairs of contact and name forever, in the same way as ClaimKeys.
	ClaimOnce(ctx context.Context, orgID string, claims []OnceClaim, at time.Time) (map[OnceKey]OnceClaim, error)

	// Insert stores activities of contacts of the organization.
	Insert(ctx context.Context, orgID string, activities []Activity) error
	// Activities returns one page, newest first by occurrence and id.
	Activities(ctx context.Context, orgID string, f Filter) ([]Activity, error)
	// Summaries returns one row for each name. The first is the one with the latest
	// activity.
	Summaries(ctx context.Context, orgID, contactID string, since Since) ([]Summary, error)
	// ContactByReference returns the id of the contact with this id, else with this address,
	// else with this external id. It returns "" when there is none.
	ContactByReference(ctx context.Context, orgID, reference string) (string, error)

	PropertyStore
}

// Person has the names of a contact.
type Person struct {
	ID string
	// Email is the address as sent. Only InsertStubs uses it.
	Email    string
	EmailKey string
	// ExternalID is "" when the contact has none.
	ExternalID string
}

// KeyClaim is an idempotency key with the activity for which it was first used.
type KeyClaim struct{ Key, ActivityID, ContactID string }

// OnceKey identifies an activity of the mode Once: a contact and a name.
type OnceKey struct{ ContactID, Name string }

// OnceClaim is a claimed OnceKey, with the time of its activity.
type OnceClaim struct {
	OnceKey
	ActivityID string
}

// Filter narrows a page of activities. All members that are set must match.
type Filter struct {
	Name, ContactID string
	// From is inclusive, To is exclusive; nil means no limit.
	From, To *time.Time
	// Received excludes activities that were received earlier; see [keptSince].
	Received time.Time
	After    *core.After
	Limit    int
}

// Since has the start times of a summary.
type Since struct {
	// Recent is the start of the last 30 days. Received excludes activities that were
	// received earlier.
	Recent, Received time.Time
}
