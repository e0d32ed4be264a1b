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
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/signing"
)

// verifiedLimit is the maximum number of tokens in the cache, at about 1.5 KB each.
const verifiedLimit = 20_000

// The reasons for refusing an access token. They are for the log; callers of the API do not
// see them.
var (
	errTokenForm     = errors.New("not a signed JWT in compact form")
	errTokenInvalid  = errors.New("the token's signature, type or issuer is not right")
	errTokenClaims   = errors.New("the token lacks a claim, or its audience is not one string")
	errTokenExpired  = errors.New("the token has expired")
	errTokenLifetime = errors.New("the token claims a longer life than tokens have")
	errTokenAudience = errors.New("the token is for another resource")
)

// Verifier verifies the access tokens of a [Server] with the same configuration. It
// implements bearer.TokenVerifier for the API and the agent endpoint. It caches a valid token
// until the token expires, because verifying a signature takes a hundred times as long as
// hashing the token.
type Verifier struct {
	tokens   *gooidc.IDTokenVerifier
	targets  targets
	clock    core.Clock
	verified *cache.Cache[access.Proof, verifiedToken]
}

// verifiedToken is a valid access token with the claims that later checks need.
type verifiedToken struct {
	token    bearer.Token
	resource access.Resource
	issuedAt int64 // in seconds since 1970
}

// NewVerifier returns a Verifier. It uses only the addresses, the keys and the clock of the
// configuration.
func NewVerifier(cfg Config) (*Verifier, error) {
	resources, err := checkAddresses(cfg)
	if err != nil {
		return nil, err
	}
	tokens := gooidc.NewVerifier(cfg.Issuer, keySet{cfg.Keys}, &gooidc.Config{
		SupportedSigningAlgs: []string{gooidc.ES256},
		Now:                  cfg.Clock,
		// The library go-oidc treats the audience as a client id and accepts a token if one
		// of several audiences matches. Verifier.read compares the whole audience instead.
		SkipClientIDCheck: true,
	})
	verified := cache.New[access.Proof, verifiedToken](verifiedLimit)
	cfg.Keys.OnRevoke(func() { verified.Remove(func(verifiedToken) bool { return true }) })
	return &Verifier{tokens: tokens, targets: resources, clock: cfg.Clock, verified: verified}, nil
}

// VerifyToken implements bearer.TokenVerifier.
func (v *Verifier) VerifyToken(ctx context.Context, token string, resource access.Resource) (bearer.Token, error) {
	now := v.clock()
	proof := access.ProofOf(token)
	found, ok := v.verified.Get(proof, now)
	if !ok {
		epoch := v.verified.Epoch()
		var err error
		if found, err = v.check(ctx, token, now); err != nil {
			return bearer.Token{}, err
		}
		v.verified.Put(proof, found, found.token.ExpiresAt, epoch)
	}
	if found.resource != resource {
		return bearer.Token{}, errTokenAudience
	}
	return found.token, nil
}

// check verifies the form, the signature, the issuer, the times and the claims of an access
// token. It accepts tokens for the API and for the agent endpoint. Its errors are for the
// log.
func (v *Verifier) check(ctx context.Context, token string, now time.Time) (verifiedToken, error) {
	// Refuse tokens that are not in the compact form of three parts. The library go-oidc
	// would also parse the JSON forms of RFC 7515, which access tokens never use.
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
	// A token is already expired in the second that its claim exp names (RFC 7519 section
	// 4.1.4).
	if !now.Before(parsed.Expiry) {
		return verifiedToken{}, errTokenExpired
	}
	// The server issues no token that is valid for longer than signing.Overlap, even if its
	// clock is ahead. A thief of a signing key could make such a token, and the cache would
	// accept it after the key was retired.
	if parsed.Expiry.After(now.Add(signing.Overlap)) {
		return verifiedToken{}, errTokenLifetime
	}
	var c claims
	if err := parsed.Claims(&c); err != nil {
		return verifiedToken{}, errTokenClaims
	}
	return v.read(c)
}

// read converts the claims of an access token to a verifiedToken. It fails if a required
// claim is missing or the audience is not exactly one resource.
func (v *Verifier) read(c claims) (verifiedToken, error) {
	if c.ID == "" || c.Subject == "" || c.ClientID == "" || c.Org == "" || c.IssuedAt == 0 {
		return verifiedToken{}, errTokenClaims
	}
	resource, ok := v.targets.findResource(c.Audience)
	if !ok {
		return verifiedToken{}, errTokenAudience
	}
	token := bearer.Token{
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
	// Refuse a person's token without a grant, because it could not be revoked, and a grant
	// without a person.
	if (token.UserID == "") != (c.Grant == "") {
		return verifiedToken{}, errTokenClaims
	}
	return verifiedToken{token: token, resource: resource, issuedAt: c.IssuedAt}, nil
}

// keySet verifies signatures with this server's own public keys and makes no HTTP requests.
// Unknown key ids cause at most one read of the store a second.
type keySet struct{ keys *signing.Keys }

// VerifySignature implements go-oidc's KeySet. It also checks the header `typ`, which the
// library neither checks nor passes on.
func (k keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(jws.Signatures) != 1 {
		return nil, errTokenForm
	}
	header := jws.Signatures[0].Protected
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	// RFC 9068 section 4 allows application/at+jwt too, and media types are not
	// case-sensitive.
	if strings.TrimPrefix(strings.ToLower(typ), "application/") != tokenType {
		return nil, errTokenInvalid
	}
	public, ok := k.keys.Public(ctx, header.KeyID)
	if !ok {
		return nil, errTokenInvalid
	}
	return jws.Verify(public)
}
