package core

import "slices"

// Environment is the purpose of a credential: live use or testing. Both work on the same
// data. Test credentials have a tenth of the rate limit and may not call destroying
// operations.
type Environment string

// The two environments of a credential.
const (
	Live Environment = "live"
	Test Environment = "test"
)

// CredentialKind distinguishes the two interchangeable kinds of bearer credential.
type CredentialKind string

// The kinds of credential.
const (
	APIKey      CredentialKind = "api_key"
	OAuthClient CredentialKind = "oauth_client"
)

// Credential is the credential that the caller presented, without its secret.
type Credential struct {
	Kind CredentialKind
	// ID is the stored credential's own id: an API key's UUID, or the UUID of
	// the OAuth client behind an access token.
	ID string
	// Name is the public name of the credential: an OAuth client_id, or the
	// identifying prefix of an API key (environment marker and eight characters).
	Name        string
	Environment Environment
}

// Org is the organization on whose behalf a call is made, with the settings that the rails
// need. Every row of every table belongs to exactly one organization.
type Org struct {
	ID   string
	Name string
	Slug string
	// Tier is the plan: free, team, business, admin, sponsored or demo.
	Tier string
	// RetentionDays is the maximum age of data in an analytics query, in days. It is the
	// stored result of [RetentionOf].
	RetentionDays int
	// RateLimit is the plan's limit in calls a minute; nil means no limit.
	RateLimit *int
	// GitConnected is true when definitions come from a repository, which makes
	// them read-only here.
	GitConnected bool
	// RequireSecondFactor is true when members must sign in with a second factor,
	// and prove it again before they create or revoke API keys.
	RequireSecondFactor bool
	// PlatformMode is true when temporary inboxes are counted per account of a
	// platform's customer.
	PlatformMode bool
}

// RetentionOf returns how many days back analytics can be read on a plan. Single messages
// and their events are stored for 365 days on every plan.
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

// Principal is the caller: an organization, a user in it or none, and a credential with the
// scopes in force for this call.
type Principal struct {
	Org        Org
	UserID     string // empty for API keys and client_credentials tokens
	Credential Credential
	Scopes     Scopes
}

// Caller identifies the caller within the organization by the credential and the user. The
// text holds ids only, so it may be stored.
func (p Principal) Caller() string { return p.Credential.ID + "/" + p.UserID }

// RateLimit returns the number of calls a minute that the principal may make, nil for no
// limit. Test credentials get a tenth of the plan's limit, at least one.
func (p Principal) RateLimit() *int {
	if p.Org.RateLimit == nil || p.Credential.Environment != Test {
		return p.Org.RateLimit
	}
	tenth := max(1, *p.Org.RateLimit/10)
	return &tenth
}

// Scopes is a set of scopes, sorted.
type Scopes []Scope

// NewScopes returns the sorted set of the names. It drops names that are not in the
// catalogue: a stored scope that no longer exists grants nothing.
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

// Has reports whether the set contains s.
func (set Scopes) Has(s Scope) bool {
	_, found := slices.BinarySearch(set, s)
	return found
}

// Missing returns the first of the wanted scopes that the set lacks, or "".
func (set Scopes) Missing(wanted []Scope) Scope {
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

// Strings returns the names, sorted.
func (set Scopes) Strings() []string {
	names := make([]string, len(set))
	for i, s := range set {
		names[i] = string(s)
	}
	return names
}
