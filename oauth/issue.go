package oauth

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
)

// tokenType is the header `typ` of an access token (RFC 9068 section 2.1). Verifiers check
// it, so that other JWTs signed with the same key are not accepted as access tokens.
const tokenType = "at+jwt"

// claims are the claims of an access token: those of RFC 9068 section 2.2, the organization
// (org), the environment (env) and the id of the grant (gid). The audience is one string,
// because a token is for one resource.
type claims struct {
	Issuer      string           `json:"iss"`
	Subject     string           `json:"sub"` // the user's id; without a user, the client's id
	Audience    string           `json:"aud"`
	Expires     int64            `json:"exp"`
	IssuedAt    int64            `json:"iat"`
	ID          string           `json:"jti"`
	ClientID    string           `json:"client_id"`
	Scope       string           `json:"scope"`
	Org         string           `json:"org"`
	Environment core.Environment `json:"env"`
	// Grant is the id of the person's grant, or "" for a token without a person.
	Grant string `json:"gid,omitempty"`
}

// grant is the input for an access token. The handler of each grant type provides it.
type grant struct {
	id       string // the id of the person's grant; "" without a person
	orgID    string // the token's organization; the client may have none
	subject  string
	client   access.Client
	audience string
	scopes   core.Scopes
}

// issuedToken is a signed access token, with its id and scopes for the answer and the log.
type issuedToken struct {
	text  string
	id    string
	scope string
}

// tokenIssuer signs access tokens. It keeps the signer of the current key, because creating
// one takes longer than signing. It is safe for concurrent use.
type tokenIssuer struct {
	address string
	keys    *signing.Keys
	clock   core.Clock
	latest  atomic.Pointer[keySigner]
}

// keySigner is the signer of one signing key, with the key's id.
type keySigner struct {
	kid string
	jose.Signer
}

// newTokenIssuer returns an issuer with this address as the claim `iss`. It fails if the
// current key cannot sign.
func newTokenIssuer(address string, keys *signing.Keys, clock core.Clock) (*tokenIssuer, error) {
	t := &tokenIssuer{address: address, keys: keys, clock: clock}
	_, err := t.signer()
	return t, err
}

// signer returns the signer of the current signing key. It is safe for concurrent use: two
// calls may both create a signer for a new key, and both signers are valid.
func (t *tokenIssuer) signer() (jose.Signer, error) {
	kid, private := t.keys.Current()
	if known := t.latest.Load(); known != nil && known.kid == kid {
		return known, nil
	}
	made, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: kid}},
		(&jose.SignerOptions{}).WithType(tokenType),
	)
	if err != nil {
		return nil, fmt.Errorf("make token signer: %w", err)
	}
	t.latest.Store(&keySigner{kid, made})
	return made, nil
}

// issue signs a new access token that expires after [signing.AccessTokenLifetime].
func (t *tokenIssuer) issue(g grant) (issuedToken, error) {
	now := t.clock()
	token := issuedToken{id: core.NewID(), scope: g.scopes.Join()}
	payload, err := json.Marshal(claims{
		Issuer:      t.address,
		Subject:     g.subject,
		Audience:    g.audience,
		Expires:     now.Add(signing.AccessTokenLifetime).Unix(),
		IssuedAt:    now.Unix(),
		ID:          token.id,
		ClientID:    g.client.ClientID,
		Scope:       token.scope,
		Org:         g.orgID,
		Environment: g.client.Environment,
		Grant:       g.id,
	})
	if err != nil {
		return issuedToken{}, fmt.Errorf("encode claims: %w", err)
	}
	signer, err := t.signer()
	if err != nil {
		return issuedToken{}, err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return issuedToken{}, fmt.Errorf("sign token: %w", err)
	}
	if token.text, err = signed.CompactSerialize(); err != nil {
		return issuedToken{}, fmt.Errorf("encode token: %w", err)
	}
	return token, nil
}
