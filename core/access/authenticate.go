package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
)

// Resource is one of the two hosts that accept credentials.
type Resource int

// The resources.
const (
	API   Resource = iota // the public API: API keys and access tokens
	Agent                 // the agent endpoint: access tokens only
)

// Token holds the claims of a verified access token.
type Token struct {
	ID        string // jti
	ClientID  string
	OrgID     string
	UserID    string // "" for a token of client_credentials
	GrantID   string // the person's authorization; "" exactly when UserID is
	Scopes    core.Scopes
	ExpiresAt time.Time
}

// TokenVerifier checks access tokens. oauth.Verifier is one.
type TokenVerifier interface {
	// VerifyToken checks what a token carries itself: form, signature, type, issuer,
	// audience and expiry. Its error is for the log and holds no part of the token.
	VerifyToken(ctx context.Context, token string, resource Resource) (Token, error)
}

const (
	// staleness is how long a principal is used without reading the store again. It is
	// the longest delay of a revocation in another process; [Authenticator.Apply]
	// shortens it.
	staleness      = 5 * time.Second
	principalLimit = 10_000
)

// Authenticator turns bearer credentials into principals. It remembers each principal
// for at most five seconds, so that a busy credential needs no database read. It is
// safe for use by several goroutines.
type Authenticator struct {
	from       AuthenticatorConfig
	clock      core.Clock
	principals *cache.Cache[presented, known]
}

// AuthenticatorConfig is what an Authenticator reads. All fields are required: a
// token of a person is worth what its grant and the person's membership say now.
type AuthenticatorConfig struct {
	Stores  Stores
	Orgs    Orgs
	Members Ceilings
	Tokens  TokenVerifier
	Clock   core.Clock
}

// known is a remembered principal, with the ids by which it is forgotten.
type known struct {
	principal core.Principal
	tokenID   string // "" for an API key
	grantID   string // "" without a person
}

// presented is a credential at a resource. One resource may refuse what the other
// accepts.
type presented struct {
	proof    Proof
	resource Resource
}

// NewAuthenticator makes an Authenticator.
func NewAuthenticator(cfg AuthenticatorConfig) *Authenticator {
	return &Authenticator{
		from:       cfg,
		clock:      cfg.Clock,
		principals: cache.New[presented, known](principalLimit),
	}
}

// Authenticate finds the principal behind a bearer credential, as it is taken
// from the Authorization header. The principal is shared: its scopes must not be
// changed. It fails with
//   - wrong_host for an API key at the agent endpoint,
//   - key_revoked or key_expired for an API key that is known and no longer good,
//   - invalid_key for everything else, always with the same words.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string, resource Resource) (core.Principal, error) {
	isKey := LooksLikeAPIKey(bearer)
	if isKey && resource != API {
		return core.Principal{}, wrongHost()
	}
	if len(bearer) == 0 || len(bearer) > maxBearer {
		return core.Principal{}, invalidKey(errBearerLength)
	}
	now := a.clock()
	key := presented{proof: ProofOf(bearer), resource: resource}
	if found, ok := a.principals.Get(key, now); ok {
		return found.principal, nil
	}
	epoch := a.principals.Epoch()
	find := a.byToken
	if isKey {
		find = a.byAPIKey
	}
	found, end, err := find(ctx, bearer, resource, now)
	if err != nil {
		return core.Principal{}, err
	}
	a.principals.Put(key, found, earlier(end, now.Add(staleness)), epoch)
	return found.principal, nil
}

// Forget drops the remembered principals of a stored credential, by its id.
func (a *Authenticator) Forget(credentialID string) {
	a.principals.Remove(func(k known) bool { return k.principal.Credential.ID == credentialID })
}

// ForgetGrant drops the remembered principals of all tokens of a grant.
func (a *Authenticator) ForgetGrant(grantID string) {
	a.principals.Remove(func(k known) bool { return k.grantID == grantID && grantID != "" })
}

// ForgetToken drops the remembered principal of one access token, by its id.
func (a *Authenticator) ForgetToken(tokenID string) {
	a.principals.Remove(func(k known) bool { return k.tokenID == tokenID && tokenID != "" })
}

// ForgetTokens drops the remembered principals of all access tokens. The next request
// with one is checked against the current signing keys.
func (a *Authenticator) ForgetTokens() {
	a.principals.Remove(func(k known) bool { return k.tokenID != "" })
}

// ForgetUser drops the remembered principals of all tokens that act for a person.
func (a *Authenticator) ForgetUser(userID string) {
	a.principals.Remove(func(k known) bool { return k.principal.UserID == userID && userID != "" })
}

// ForgetOrg drops the remembered principals of all credentials of an organization.
func (a *Authenticator) ForgetOrg(orgID string) {
	a.principals.Remove(func(k known) bool { return k.principal.Org.ID == orgID })
}

func (a *Authenticator) byAPIKey(ctx context.Context, bearer string, _ Resource, now time.Time) (known, time.Time, error) {
	name, ok := ParseAPIKey(bearer)
	if !ok {
		return refuse(errKeyForm)
	}
	candidates, err := a.from.Stores.Keys.APIKeys(ctx, name.Environment, name.Prefix)
	if err != nil {
		return fail(err)
	}
	key, ok := matchKey(candidates, bearer)
	if !ok {
		return refuse(errKeyUnknown)
	}
	if err := keyState(key, now); err != nil {
		return known{}, time.Time{}, err
	}
	org, err := a.from.Orgs.Org(ctx, key.OrgID)
	if err != nil {
		return fail(err)
	}
	return known{principal: core.Principal{
		Org:        org,
		Credential: core.Credential{Kind: core.APIKey, ID: key.ID, Name: name.String(), Environment: key.Environment},
		Scopes:     key.Scopes,
	}}, orNever(key.ExpiresAt), nil
}

// matchKey returns the key with this secret. It compares with every candidate, and once
// with no hash when there are none, so that its duration does not reveal which prefixes
// exist.
func matchKey(candidates []APIKey, secret string) (APIKey, bool) {
	if len(candidates) == 0 {
		return APIKey{}, SecretMatches(nil, secret)
	}
	var match APIKey
	found := false
	for _, k := range candidates {
		if SecretMatches(k.SecretHash, secret) {
			match, found = k, true
		}
	}
	return match, found
}

// keyState returns key_revoked or key_expired for a key that no longer works.
func keyState(k APIKey, now time.Time) error {
	switch k.StateAt(now) {
	case KeyRevoked:
		return keyRevoked()
	case KeyExpired:
		return keyExpired()
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// orNever returns a time beyond every staleness for nil.
func orNever(t *time.Time) time.Time {
	if t == nil {
		return time.Unix(1<<40, 0)
	}
	return *t
}
