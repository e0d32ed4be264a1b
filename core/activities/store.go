package activities

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ErrClaims is wrapped by what ClaimKeys and ClaimOnce fail with when the claims
// could not be asked for a reason that trying the transaction again would not mend.
// The transaction of the context stays usable, and nothing was claimed in it.
var ErrClaims = errors.New("the claims of activities cannot be asked")

// Store is what is remembered of activities. Everything takes part in the
// transaction of its context and sees only the organization it is given.
type Store interface {
	// EmailKey is the form of an address under which contacts are found and unique.
	EmailKey(email string) string
	// Identify finds contacts by the keys of their addresses and by external ids,
	// archived ones too. What is not found is left out.
	Identify(ctx context.Context, orgID string, emailKeys, externalIDs []string) ([]Person, error)
	// InsertStubs makes stubs of those whose address and external id are both free,
	// and returns how many that was.
	InsertStubs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)
	// BindExternalIDs gives contacts that have none their external ids, those that
	// are free, and returns how many that was.
	BindExternalIDs(ctx context.Context, orgID string, people []Person, at time.Time) (int, error)

	// ClaimKeys claims idempotency keys until expires. It returns, by key, the claims
	// of others that hold now; the rest was claimed. It may fail with ErrClaims.
	ClaimKeys(ctx context.Context, orgID string, claims []KeyClaim, now, expires time.Time) (map[string]KeyClaim, error)
	// ClaimOnce claims names of contacts for ever, in the same way.
	ClaimOnce(ctx context.Context, orgID string, claims []OnceClaim, at time.Time) (map[OnceKey]OnceClaim, error)

	// Insert adds activities of contacts of the organization.
	Insert(ctx context.Context, orgID string, activities []Activity) error
	// Activities is one page, newest first by occurrence and id.
	Activities(ctx context.Context, orgID string, f Filter) ([]Activity, error)
	// Summaries has one row for each name, the last to have happened first.
	Summaries(ctx context.Context, orgID, contactID string, since Since) ([]Summary, error)
	// ContactByReference is the id of the contact with this id, or else this address,
	// or else this external id; "" when there is none.
	ContactByReference(ctx context.Context, orgID, reference string) (string, error)

	PropertyStore
}

// Person is a contact as far as its identity goes.
type Person struct {
	ID string
	// Email is the address as written; only InsertStubs looks at it.
	Email    string
	EmailKey string
	// ExternalID is "" when the contact has none.
	ExternalID string
}

// KeyClaim is an idempotency key and what it was first used for.
type KeyClaim struct{ Key, ActivityID, ContactID string }

// OnceKey is what happens once.
type OnceKey struct{ ContactID, Name string }

// OnceClaim is what happened once, and when it did.
type OnceClaim struct {
	OnceKey
	ActivityID string
}

// Filter narrows a page of activities. All members that are set must match.
type Filter struct {
	Name, ContactID string
	// From is included, To is not; nil is open.
	From, To *time.Time
	// Received leaves out what was received before; see [keptSince].
	Received time.Time
	After    *core.After
	Limit    int
}

// Since says from when on a summary counts.
type Since struct {
	// Recent is when the last 30 days began, Received leaves out what was received
	// before.
	Recent, Received time.Time
}
