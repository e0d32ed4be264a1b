package bearer

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/cache"
)

// Token has the claims of a verified access token.
type Token struct {
	ID        string // the claim "jti"
	ClientID  string
	OrgID     string
	UserID    string // the person that the token acts for; "" with the client_credentials grant
	GrantID   string // id of the person's grant to the client; "" if and only if UserID is ""
	Scopes    core.Scopes
	ExpiresAt time.Time
}

// TokenVerifier checks access tokens; oauth.Verifier implements it.
type TokenVerifier interface {
	// VerifyToken checks the token itself, without reading the store: form, signature, type,
	// issuer, audience and expiry. Its error is for the log and contains no part of the
	// token.
	VerifyToken(ctx context.Context, token string, resource access.Resource) (Token, error)
}

// Ceilings returns the scopes that a person's token may have; core/members implements it.
type Ceilings interface {
	// MemberScopes returns the scopes that the person's membership allows now. It fails with
	// core.CodeNotFound for a person who is not a member.
	MemberScopes(ctx context.Context, orgID, userID string) (core.Scopes, error)
}

const (
	// staleness is how long a cached principal is used before the store is read again. A
	// revocation in another process takes effect within this time, or earlier if
	// [Authenticator.Apply] is called with the change.
	staleness      = 5 * time.Second
	principalLimit = 10_000
	// maxBearer is the longest credential that is examined, in bytes. An access token with
	// all scopes has less than 3 KB.
	maxBearer = 8 << 10
)

// Authenticator returns the principal of a bearer credential. It caches each principal for
// at most five seconds, so that a busy credential needs few database reads. It is safe for
// use by several goroutines.
type Authenticator struct {
	from       AuthenticatorConfig
	clock      core.Clock
	principals *cache.Cache[cacheKey, cachedPrincipal]
}

// AuthenticatorConfig has the stores that an Authenticator reads. All fields are required.
// Stores and Members are needed because the scopes of a person's token depend on the stored
// grant and membership at the time of the call.
type AuthenticatorConfig struct {
	Stores  access.Stores
	Orgs    access.Orgs
	Members Ceilings
	Tokens  TokenVerifier
	Clock   core.Clock
}

// cachedPrincipal is a cached principal, with the ids by which the Forget methods remove
// it from the cache.
type cachedPrincipal struct {
	principal core.Principal
	tokenID   string // "" for an API key
	grantID   string // "" for an API key, and for a token of the client_credentials grant
}

// cacheKey is the key of the cache: a credential and the resource at which it was
// presented. The API may refuse a credential that the agent endpoint accepts, and the other
// way round.
type cacheKey struct {
	proof    access.Proof
	resource access.Resource
}

// NewAuthenticator returns an Authenticator with an empty cache.
func NewAuthenticator(cfg AuthenticatorConfig) *Authenticator {
	return &Authenticator{
		from:       cfg,
		clock:      cfg.Clock,
		principals: cache.New[cacheKey, cachedPrincipal](principalLimit),
	}
}

// Authenticate returns the principal of a bearer credential. Several callers share the
// principal, so its scopes must not be changed. It fails with
//   - wrong_host for an API key at the agent endpoint,
//   - key_revoked or key_expired for an existing API key that no longer works,
//   - invalid_key for any other credential that is refused, always with the same text, except
//     for a credential of a deleted organization; see core.OrgDeleted,
//   - the store's error if a store cannot be read.
func (a *Authenticator) Authenticate(ctx context.Context, bearer string, resource access.Resource) (core.Principal, error) {
	if len(bearer) == 0 || len(bearer) > maxBearer {
		return core.Principal{}, core.InvalidKey(errBearerLength)
	}
	isKey := access.LooksLikeAPIKey(bearer)
	if isKey && resource != access.API {
		return core.Principal{}, wrongHost()
	}
	now := a.clock()
	key := cacheKey{proof: access.ProofOf(bearer), resource: resource}
	if found, ok := a.principals.Get(key, now); ok {
		return found.principal, nil
	}
	epoch := a.principals.Epoch()
	find := a.resolveToken
	if isKey {
		find = a.resolveAPIKey
	}
	found, end, err := find(ctx, bearer, resource, now)
	if err != nil {
		return core.Principal{}, err
	}
	a.principals.Put(key, found, earlier(end, now.Add(staleness)), epoch)
	return found.principal, nil
}

// Forget removes the cached principals of a stored credential, by its id.
func (a *Authenticator) Forget(credentialID string) {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.principal.Credential.ID == credentialID })
}

// ForgetGrant removes the cached principals of all tokens of a grant.
func (a *Authenticator) ForgetGrant(grantID string) {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.grantID == grantID && grantID != "" })
}

// ForgetToken removes the cached principal of one access token, by its id.
func (a *Authenticator) ForgetToken(tokenID string) {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.tokenID == tokenID && tokenID != "" })
}

// ForgetTokens removes the cached principals of all access tokens. The next request with
// each token is checked against the current signing keys.
func (a *Authenticator) ForgetTokens() {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.tokenID != "" })
}

// ForgetUser removes the cached principals of all tokens that act for a person.
func (a *Authenticator) ForgetUser(userID string) {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.principal.UserID == userID && userID != "" })
}

// ForgetOrg removes the cached principals of all credentials of an organization.
func (a *Authenticator) ForgetOrg(orgID string) {
	a.principals.Remove(func(k cachedPrincipal) bool { return k.principal.Org.ID == orgID })
}

func (a *Authenticator) resolveAPIKey(ctx context.Context, bearer string, _ access.Resource, now time.Time) (cachedPrincipal, time.Time, error) {
	name, ok := access.ParseAPIKey(bearer)
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
		return cachedPrincipal{}, time.Time{}, err
	}
	org, err := a.from.Orgs.Org(ctx, key.OrgID)
	if err != nil {
		return fail(err)
	}
	if org.IsDeleted() {
		return cachedPrincipal{}, time.Time{}, core.OrgDeleted(org)
	}
	return cachedPrincipal{principal: core.Principal{
		Org:        org,
		Credential: core.Credential{Kind: core.APIKey, ID: key.ID, Name: name.String(), Environment: key.Environment},
		Scopes:     key.Scopes,
		KeyOwner:   key.Owner,
	}}, expiryTime(key.ExpiresAt), nil
}

// matchKey returns the candidate whose stored hash matches the secret. It compares the
// secret with every candidate, and with a constant hash if there is no candidate. So its
// duration does not reveal which prefixes exist.
func matchKey(candidates []access.APIKey, secret string) (access.APIKey, bool) {
	if len(candidates) == 0 {
		return access.APIKey{}, access.SecretMatches(nil, secret)
	}
	var match access.APIKey
	found := false
	for _, k := range candidates {
		if access.SecretMatches(k.SecretHash, secret) {
			match, found = k, true
		}
	}
	return match, found
}

// keyState fails with key_revoked or key_expired for a key that no longer works.
func keyState(k access.APIKey, now time.Time) error {
	switch k.StateAt(now) {
	case access.KeyRevoked:
		return keyRevokedError()
	case access.KeyExpired:
		return keyExpiredError()
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// expiryTime returns the time at which a key expires. For a key that does not expire (nil),
// it returns a time in the far future.
func expiryTime(t *time.Time) time.Time {
	if t == nil {
		return time.Unix(1<<40, 0)
	}
	return *t
}
