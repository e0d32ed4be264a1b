package access

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Resource is one of the two hosts that take credentials.
type Resource int

// The resources.
const (
	API   Resource = iota // the public API: API keys and access tokens
	Agent                 // the agent endpoint: access tokens only
)

// Token is what a verified access token says.
type Token struct {
	ID        string // jti
	ClientID  string
	OrgID     string
	UserID    string // "" for a token of client_credentials
	Scopes    core.Scopes
	ExpiresAt time.Time
}

// TokenVerifier checks access tokens. Package oauth has the one that checks the
// tokens it issues.
type TokenVerifier interface {
	// VerifyToken checks everything that a token carries in itself: form,
	// signature, type, issuer, audience and expiry. Its error is for the log and
	// holds no part of the token.
	VerifyToken(ctx context.Context, token string, resource Resource) (Token, error)
}

const (
	// staleness is how long a principal is used without asking the store again,
	// and so how long a revocation in another process may take to be felt.
	staleness      = 5 * time.Second
	principalLimit = 10_000
)

// Authenticator turns bearer credentials into principals. It remembers each for
// at most five seconds, so that a busy credential costs no database read. It is
// safe for use by several goroutines.
type Authenticator struct {
	store      Store
	tokens     TokenVerifier
	clock      core.Clock
	principals *Cache[presented, core.Principal]
}

// presented is a credential at a resource: what one host accepts, the other may not.
type presented struct {
	proof    Proof
	resource Resource
}

// NewAuthenticator makes an Authenticator on stored credentials and a verifier
// of access tokens.
func NewAuthenticator(store Store, tokens TokenVerifier, clock core.Clock) *Authenticator {
	return &Authenticator{
		store:      store,
		tokens:     tokens,
		clock:      clock,
		principals: NewCache[presented, core.Principal](principalLimit),
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
	if p, ok := a.principals.Get(key, now); ok {
		return p, nil
	}
	epoch := a.principals.Epoch()
	find := a.byToken
	if isKey {
		find = a.byAPIKey
	}
	principal, end, err := find(ctx, bearer, resource, now)
	if err != nil {
		return core.Principal{}, err
	}
	a.principals.Put(key, principal, earlier(end, now.Add(staleness)), epoch)
	return principal, nil
}

// Forget drops what is remembered of a stored credential, by its id, so that its
// revocation is felt by the next request to this process.
func (a *Authenticator) Forget(credentialID string) {
	a.principals.Remove(func(p core.Principal) bool { return p.Credential.ID == credentialID })
}

// ForgetOrg drops what is remembered of all credentials of an organization, so
// that a change to its plan is felt by the next request to this process.
func (a *Authenticator) ForgetOrg(orgID string) {
	a.principals.Remove(func(p core.Principal) bool { return p.Org.ID == orgID })
}

func (a *Authenticator) byAPIKey(ctx context.Context, bearer string, _ Resource, now time.Time) (core.Principal, time.Time, error) {
	name, ok := ParseAPIKey(bearer)
	if !ok {
		return refuse(errKeyForm)
	}
	candidates, err := a.store.APIKeys(ctx, name.Environment, name.Prefix)
	if err != nil {
		return fail(err)
	}
	key, ok := matching(candidates, bearer)
	if !ok {
		return refuse(errKeyUnknown)
	}
	if err := keyState(key, now); err != nil {
		return core.Principal{}, time.Time{}, err
	}
	org, err := a.store.Org(ctx, key.OrgID)
	if err != nil {
		return fail(err)
	}
	return core.Principal{
		Org:        org,
		Credential: core.Credential{Kind: core.APIKey, ID: key.ID, Name: name.String(), Environment: key.Environment},
		Scopes:     key.Scopes,
	}, orNever(key.ExpiresAt), nil
}

// matching compares with every candidate, and once with nothing when there is
// none, so that the time taken tells nothing about which prefixes exist.
func matching(candidates []APIKey, secret string) (APIKey, bool) {
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

// keyState tells a key that ran out after its rotation from one that was
// revoked. The job that ends the grace revokes too, so the order of the two
// instants decides.
func keyState(k APIKey, now time.Time) error {
	expired := k.ExpiresAt != nil && !now.Before(*k.ExpiresAt)
	if k.RevokedAt != nil && (!expired || k.RevokedAt.Before(*k.ExpiresAt)) {
		return keyRevoked()
	}
	if expired {
		return keyExpired()
	}
	return nil
}

func (a *Authenticator) byToken(ctx context.Context, bearer string, resource Resource, _ time.Time) (core.Principal, time.Time, error) {
	token, err := a.tokens.VerifyToken(ctx, bearer, resource)
	if err != nil {
		return refuse(err)
	}
	client, err := a.store.Client(ctx, token.ClientID)
	if isNotFound(err) {
		return refuse(errClientGone)
	}
	if err != nil {
		return fail(err)
	}
	if client.RevokedAt != nil || client.OrgID != token.OrgID {
		return refuse(errClientGone)
	}
	org, err := a.store.Org(ctx, client.OrgID)
	if err != nil {
		return fail(err)
	}
	return core.Principal{
		Org:        org,
		UserID:     token.UserID,
		Credential: core.Credential{Kind: core.OAuthClient, ID: client.ID, Name: client.ClientID, Environment: client.Environment},
		Scopes:     token.Scopes.Intersect(client.Scopes),
	}, token.ExpiresAt, nil
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*core.Error](err)
	return ok && e.Code == core.CodeNotFound
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// orNever reads a time that may be missing as one beyond every staleness.
func orNever(t *time.Time) time.Time {
	if t == nil {
		return time.Unix(1<<40, 0)
	}
	return *t
}
