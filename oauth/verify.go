package oauth

import (
	"context"
	"errors"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/signing"
)

// verifiedLimit is the maximum number of cached tokens, at about 1.5 KB each.
const verifiedLimit = 20_000

// The reasons for refusing a token. They are for the log; callers see none of them.
var (
	errTokenForm     = errors.New("not a signed JWT in compact form")
	errTokenInvalid  = errors.New("the token's signature, type or issuer is not right")
	errTokenClaims   = errors.New("the token lacks a claim, or its audience is not one string")
	errTokenExpired  = errors.New("the token has expired")
	errTokenLifetime = errors.New("the token claims a longer life than tokens have")
	errTokenAudience = errors.New("the token is for another resource")
)

// Verifier checks the access tokens of a [Server] with the same configuration; it is
// the access.TokenVerifier of the resource hosts. It remembers an accepted token until
// the token expires: checking a signature costs a hundred times as much as hashing the
// token.
type Verifier struct {
	tokens   *gooidc.IDTokenVerifier
	targets  targets
	clock    core.Clock
	verified *cache.Cache[access.Proof, verifiedToken]
}

// verifiedToken is an accepted token with the claims that later checks need.
type verifiedToken struct {
	token    access.Token
	resource access.Resource
	issuedAt int64 // in seconds since 1970
}

// NewVerifier returns a Verifier. It uses the addresses, the keys and the clock of the
// configuration.
func NewVerifier(cfg Config) (*Verifier, error) {
	resources, err := checkAddresses(cfg)
	if err != nil {
		return nil, err
	}
	tokens := gooidc.NewVerifier(cfg.Issuer, keySet{cfg.Keys}, &gooidc.Config{
		SupportedSigningAlgs: []string{gooidc.ES256},
		Now:                  cfg.Clock,
		// The library takes the audience for a client's id and accepts a token if one of
		// several audiences fits. read compares the whole audience instead.
		SkipClientIDCheck: true,
	})
	verified := cache.New[access.Proof, verifiedToken](verifiedLimit)
	cfg.Keys.OnRevoke(func() { verified.Remove(func(verifiedToken) bool { return true }) })
	return &Verifier{tokens: tokens, targets: resources, clock: cfg.Clock, verified: verified}, nil
}

// VerifyToken implements access.TokenVerifier.
func (v *Verifier) VerifyToken(ctx context.Context, token string, resource access.Resource) (access.Token, error) {
	now := v.clock()
	proof := access.ProofOf(token)
	found, ok := v.verified.Get(proof, now)
	if !ok {
		epoch := v.verified.Epoch()
		var err error
		if found, err = v.check(ctx, token, now); err != nil {
			return access.Token{}, err
		}
		v.verified.Put(proof, found, found.token.ExpiresAt, epoch)
	}
	if found.resource != resource {
		return access.Token{}, errTokenAudience
	}
	return found.token, nil
}

// check verifies the form, the signature, the issuer and the times of a token, for any
// resource. Its errors are for the log.
func (v *Verifier) check(ctx context.Context, token string, now time.Time) (verifiedToken, error) {
	// The library also reads the JSON forms of RFC 7515, which access tokens do not
	// have.
	if strings.Count(token, ".") != 2 || !strings.HasPrefix(token, "eyJ") {
		return verifiedToken{}, errTokenForm
	}
	parsed, err := v.tokens.Verify(ctx, token)
	if _, expired := errors.AsType[*gooidc.TokenExpiredError](err); expired {
		return verifiedToken{}, errTokenExpired
	}
	if err != nil {
		return verifiedToken{}, errTokenInvalid
	}
	// RFC 7519 section 4.1.4: a token is refused in the second of its expiry too.
	if !now.Before(parsed.Expiry) {
		return verifiedToken{}, errTokenExpired
	}
	// The server issues no token with such a lifetime, even if its clock is ahead. A
	// thief of a key could make one, and the cache would accept it after the key's end.
	if parsed.Expiry.After(now.Add(signing.Overlap)) {
		return verifiedToken{}, errTokenLifetime
	}
	var c claims
	if err := parsed.Claims(&c); err != nil {
		return verifiedToken{}, errTokenClaims
	}
	return v.read(c)
}

// read decodes the claims. It fails for an audience that is an array.
func (v *Verifier) read(c claims) (verifiedToken, error) {
	if c.ID == "" || c.Subject == "" || c.ClientID == "" || c.Org == "" || c.IssuedAt == 0 {
		return verifiedToken{}, errTokenClaims
	}
	resource, ok := v.targets.findResource(c.Audience)
	if !ok {
		return verifiedToken{}, errTokenAudience
	}
	token := access.Token{
		ID:        c.ID,
		ClientID:  c.ClientID,
		OrgID:     c.Org,
		Scopes:    core.NewScopes(strings.Fields(c.Scope)...),
		ExpiresAt: time.Unix(c.Expires, 0),
	}
	if c.Subject != c.ClientID {
		token.UserID = c.Subject
		token.GrantID = c.Grant
	}
	// Refuse a person's token without a grant: it could not be revoked.
	if (token.UserID == "") != (c.Grant == "") {
		return verifiedToken{}, errTokenClaims
	}
	return verifiedToken{token: token, resource: resource, issuedAt: c.IssuedAt}, nil
}

// keySet verifies signatures with this server's own keys. It makes no requests; a flood
// of unknown key ids causes at most one read of the store a second.
type keySet struct{ keys *signing.Keys }

// VerifySignature implements go-oidc's KeySet. It also checks `typ`, which the library
// leaves to its callers and hides from them.
func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(jws.Signatures) != 1 {
		return nil, errTokenForm
	}
	header := jws.Signatures[0].Protected
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	// RFC 9068 section 4 allows the whole media type, and names have no case.
	if strings.TrimPrefix(strings.ToLower(typ), "application/") != tokenType {
		return nil, errTokenInvalid
	}
	public, ok := k.keys.Public(ctx, header.KeyID)
	if !ok {
		return nil, errTokenInvalid
	}
	return jws.Verify(public)
}
