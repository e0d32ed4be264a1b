package core

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Environment is the purpose of a credential: live use or testing. Both work on the same
// data. Test credentials have a tenth of the rate limit and may not call operations whose
// effect is Destroys.
type Environment string

// The values of Environment, the purpose of a credential.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// CredentialKind is the kind of a credential. All kinds can call the same operations.
type CredentialKind string

// The kinds of credential. A Person is signed in to the dashboard; the other two kinds are
// bearer credentials.
const (
	APIKey      CredentialKind = "api_key"
	OAuthClient CredentialKind = "oauth_client"
	Person      CredentialKind = "user"
)

// Credential is the credential of the caller, without its secret.
type Credential struct {
	Kind CredentialKind
	// ID is the id of the stored credential: the UUID of the API key, the UUID of the OAuth
	// client to which the access token was issued, or the id of the signed-in user.
	ID string
	// Name is the public name of the credential: the OAuth client_id, the beginning of an
	// API key (sk_live_ or sk_test_, and eight characters), or "dashboard" for a person.
	Name        string
	Environment Environment
}

// Org is the organization for which a call is made, with the settings that the guardrails
// need.
type Org struct {
	ID   string
	Name string
	Slug string
	// Tier is free, team, business, admin, sponsored or demo.
	Tier string
	// RetentionDays is how many days back analytics queries may reach. It stores the result
	// of [RetentionOf].
	RetentionDays int
	// RateLimit is the organization's limit in calls per minute; nil means no limit.
	RateLimit *int
	// GitConnected is true if definitions come from a Git repository. They are then
	// read-only in Mailhelm.
	GitConnected bool
	// RequireSecondFactor is true if members must sign in with a second factor, and prove it
	// again before they create or revoke API keys.
	RequireSecondFactor bool
	// PlatformMode is true if the organization serves customers of its own, so that
	// temporary inboxes are counted separately for each customer's account.
	PlatformMode bool
	// ReplayDays is for how many days a result of a call is kept for its repetition with the
	// same idempotency key; 0 for the default, one day. See core/retention.
	ReplayDays int
	// DeletedAt is the time at which the organization was deleted; nil for most.
	DeletedAt *time.Time
}

// StoredDays is the number of days for which messages and their events are stored on every
// tier. Activities are not stored longer.
const StoredDays = 365

// RetentionOf returns how many days back analytics queries may reach on a tier.
func RetentionOf(tier string) int {
	switch tier {
	case "free":
		return 30
	case "team":
		return 90
	default: // business, and the internal tiers
		return 365
	}
}

// ActivityDays returns for how many days after its receipt an activity is stored, for an
// organization whose analytics queries may reach retentionDays back.
func ActivityDays(retentionDays int) int { return min(StoredDays, retentionDays) }

// MessageDays returns for how many days messages and their events are stored, for an
// organization whose analytics queries may reach retentionDays back.
func MessageDays(retentionDays int) int { return max(StoredDays, retentionDays) }

// Principal is the caller: an organization, a user in it or none, and a credential with the
// scopes that are valid for this call.
type Principal struct {
	Org        Org
	UserID     string // "" for API keys and tokens of the client_credentials grant
	Credential Credential
	// KeyOwner is the owner of an API key; see access.APIKey. It is "" for other credentials.
	KeyOwner string
	Scopes   Scopes
}

// Caller returns a text that identifies the credential and the user within the
// organization. It contains only ids, so it may be stored.
func (p Principal) Caller() string { return p.Credential.ID + "/" + p.UserID }

// Owner returns the id of the owner of records that only their creator sees: the user, the
// owner of the API key, or else the credential.
func (p Principal) Owner() string { return cmp.Or(p.UserID, p.KeyOwner, p.Credential.ID) }

// RateLimit returns the number of calls per minute that the principal may make, nil for no
// limit. Test credentials get a tenth of the organization's limit, at least one.
func (p Principal) RateLimit() *int {
	if p.Org.RateLimit == nil || p.Credential.Environment != Test {
		return p.Org.RateLimit
	}
	tenth := max(1, *p.Org.RateLimit/10)
	return &tenth
}

// Scopes is a sorted set of scopes.
type Scopes []Scope

// NewScopes returns the set of the scopes with these names. It drops names that Mailhelm
// does not define: a stored scope that no longer exists grants nothing.
func NewScopes(names ...string) Scopes {
	set := make(Scopes, 0, len(names))
	for _, name := range names {
		if s := Scope(name); s.IsKnown() {
			set = append(set, s)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// Join returns the names of the scopes separated by spaces, as in a `scope` parameter (RFC
// 6749 section 3.3) and a WWW-Authenticate header (RFC 6750 section 3).
func (set Scopes) Join() string { return strings.Join(set.Strings(), " ") }

// Has reports whether the set contains s.
func (set Scopes) Has(s Scope) bool {
	_, found := slices.BinarySearch(set, s)
	return found
}

// FirstMissing returns the first of the wanted scopes that the set lacks, or "".
func (set Scopes) FirstMissing(wanted []Scope) Scope {
	for _, s := range wanted {
		if !set.Has(s) {
			return s
		}
	}
	return ""
}

// Intersect returns the scopes that both sets contain.
func (set Scopes) Intersect(other Scopes) Scopes {
	both := make(Scopes, 0, min(len(set), len(other)))
	for _, s := range set {
		if other.Has(s) {
			both = append(both, s)
		}
	}
	return both
}

// Strings returns the names of the scopes, sorted.
func (set Scopes) Strings() []string {
	names := make([]string, len(set))
	for i, s := range set {
		names[i] = string(s)
	}
	return names
}
