package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The allowed length of a PKCE code verifier, in characters (RFC 7636 section 4.1).
const (
	minVerifier = 43
	maxVerifier = 128
)

// Error descriptions for a refused authorization code. Each names what the client's
// developer can check.
const (
	codeUnknown  = "The authorization code is not known, has expired, or was issued to another client or for another redirect URI."
	codeReplayed = "The authorization code was redeemed before. A code that is redeemed twice may be stolen, so all tokens of this authorization are revoked; the person has to authorize again."
)

// CodeExchange serves the grant type authorization_code with PKCE (RFC 6749 section 4.1.3).
// The OpenID Connect library has already verified the secret of a confidential client. For
// a public client the code verifier is the only proof.
func (p *provider) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	attempt := attemptOf(ctx)
	registered, refused := clientOf(r.Client)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	if refused := checkVerifier(r.PostForm.Get("code_verifier")); refused != nil {
		return nil, attempt.refuse(refused)
	}
	allowed, refused := p.codes.redeemCode(ctx, registered, r.PostForm)
	if refused != nil {
		return nil, attempt.refuse(refused)
	}
	next, stored := newRefreshToken(allowed, p.codes.clock())
	if err := p.codes.stores.Tokens.InsertRefreshToken(ctx, stored); err != nil {
		return nil, attempt.refuse(serverError(err))
	}
	return p.answers.answerPerson(attempt, personalAnswer{
		client: registered, allowed: allowed, scopes: allowed.Scopes.Intersect(registered.Scopes), refresh: next,
	})
}

// codeExchange redeems authorization codes.
type codeExchange struct{ *families }

// redeemCode marks an authorization code as used and returns its grant. If the code comes
// with wrong parameters it may be stolen, so redeemCode revokes the grant. A second use of
// the code also revokes the grant. Tokens issued for the first use are then invalid at
// once.
func (e *codeExchange) redeemCode(ctx context.Context, registered access.Client, form url.Values) (access.Grant, *refusal) {
	now := e.clock()
	code, outcome, err := e.stores.Tokens.RedeemCode(ctx, access.HashSecret(form.Get("code")), now)
	if err != nil {
		return access.Grant{}, serverError(err)
	}
	switch outcome {
	case access.Redeemed:
	case access.Replayed:
		e.reportReplay(ctx, registered, code.GrantID, code.OrgID)
		return access.Grant{}, invalidGrant(codeReplayed)
	default:
		return access.Grant{}, invalidGrant(codeUnknown)
	}
	refused := checkCode(code, registered, form, now)
	if refused == nil {
		var allowed access.Grant
		if allowed, refused = e.authorization(ctx, code.OrgID, code.GrantID, form["resource"]); refused == nil {
			return allowed, nil
		}
	}
	if err := e.revokeGrant(ctx, code.OrgID, code.GrantID); err != nil {
		return access.Grant{}, serverError(err)
	}
	return access.Grant{}, refused
}

// checkCode fails unless the code was issued to this client and redirect URI and has not
// expired (RFC 6749 section 4.1.3). It also fails unless the verifier matches the challenge
// (RFC 7636 section 4.6).
func checkCode(code access.AuthorizationCode, registered access.Client, form url.Values, now time.Time) *refusal {
	if code.ClientID != registered.ClientID || code.RedirectURI != form.Get("redirect_uri") || !now.Before(code.ExpiresAt) {
		return invalidGrant(codeUnknown)
	}
	if !proves(form.Get("code_verifier"), code.Challenge) {
		return invalidGrant("`code_verifier` does not belong to the `code_challenge` of the authorization request.")
	}
	return nil
}

// checkVerifier fails for a code verifier with a wrong length or wrong characters (RFC 7636
// section 4.1).
func checkVerifier(verifier string) *refusal {
	if len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return invalidRequest("`code_verifier` must have 43 to 128 characters (RFC 7636).")
	}
	for i := range len(verifier) {
		c := verifier[i]
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' && c != '~' {
			return invalidRequest("`code_verifier` must consist of letters, digits and -._~ (RFC 7636).")
		}
	}
	return nil
}

// proves reports whether the PKCE challenge is the S256 hash of the verifier (RFC 7636
// section 4.6).
func proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	made := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(made), []byte(challenge)) == 1
}
