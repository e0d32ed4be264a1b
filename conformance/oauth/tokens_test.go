package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// forgery is an access token that a test makes itself, with any header, claims, key and
// algorithm.
type forgery struct {
	algorithm jose.SignatureAlgorithm
	key       any
	header    map[jose.HeaderKey]any
	claims    map[string]any
}

// forge returns an access token for a test. It is valid and signed with the server's own
// key, except for what the function change alters. Each test alters one thing.
func (w *world) forge(change func(*forgery)) string {
	w.t.Helper()
	kid, private := w.keys.Current()
	f := &forgery{
		algorithm: jose.ES256, key: private,
		header: map[jose.HeaderKey]any{"typ": "at+jwt", "kid": kid},
		claims: map[string]any{
			"iss": w.issuer, "sub": w.live.ClientID, "client_id": w.live.ClientID, "aud": apiResource,
			"iat": start.Unix(), "exp": start.Unix() + 900, "jti": core.NewID(),
			"scope": "api.account.view", "org": w.live.OrgID, "env": "live",
		},
	}
	change(f)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: f.algorithm, Key: f.key}, &jose.SignerOptions{ExtraHeaders: f.header})
	w.must(err)
	payload, err := json.Marshal(f.claims)
	w.must(err)
	signed, err := signer.Sign(payload)
	w.must(err)
	text, err := signed.CompactSerialize()
	w.must(err)
	return text
}

func claim(name string, value any) func(*forgery) {
	return func(f *forgery) { f.claims[name] = value }
}

func without(name string) func(*forgery) {
	return func(f *forgery) { delete(f.claims, name) }
}

func header(name jose.HeaderKey, value any) func(*forgery) {
	return func(f *forgery) { f.header[name] = value }
}

func TestForgedTokensAreRefusedAlike(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		ok := w.forge(func(*forgery) {})
		if _, err := w.auth.Authenticate(t.Context(), ok, access.API); err != nil {
			t.Fatalf("the token that the others are made from is refused: %v", err)
		}
		tokens := w.forgedHeaders()
		maps.Copy(tokens, w.forgedClaims())
		maps.Copy(tokens, w.forgedShapes(ok))
		for _, name := range slices.Sorted(maps.Keys(tokens)) {
			_, err := w.auth.Authenticate(t.Context(), tokens[name], access.API)
			refusal := core.AsError(err)
			if err == nil || refusal.Code != core.CodeInvalidKey {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, want := w.auth.Authenticate(t.Context(), "", access.API); refusal.Message != core.AsError(want).Message {
				t.Errorf("%s: a message of its own: %q", name, refusal.Message)
			}
		}
	})
}

func (w *world) forgedHeaders() map[string]string {
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	kid, private := w.keys.Current()
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	w.must(err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return map[string]string{
		"another key, our kid": w.forge(func(f *forgery) { f.key = stranger }),
		"another key embedded": w.forge(func(f *forgery) {
			f.key = stranger
			f.header["jwk"] = jose.JSONWebKey{Key: &stranger.PublicKey}
		}),
		"another key's address": w.forge(func(f *forgery) {
			f.key = stranger
			f.header["jku"] = "http://127.0.0.1:1/keys"
			f.header["x5u"] = "http://127.0.0.1:1/cert"
		}),
		"unknown kid":            w.forge(header("kid", core.NewID())),
		"no kid":                 w.forge(func(f *forgery) { delete(f.header, "kid") }),
		"typ JWT":                w.forge(header("typ", "JWT")),
		"no typ":                 w.forge(func(f *forgery) { delete(f.header, "typ") }),
		"typ of a logout token":  w.forge(header("typ", "logout+jwt")),
		"typ not text":           w.forge(header("typ", []string{"at+jwt"})),
		"critical extension":     w.forge(func(f *forgery) { f.header["crit"] = []string{"x"}; f.header["x"] = 1 }),
		"HS256 with public PEM":  w.forge(func(f *forgery) { f.algorithm, f.key = jose.HS256, public }),
		"HS256 with public DER":  w.forge(func(f *forgery) { f.algorithm, f.key = jose.HS256, der }),
		"alg none":               unsigned(`{"alg":"none","typ":"at+jwt","kid":"`+kid+`"}`, w.claimsText()),
		"alg none in other case": unsigned(`{"alg":"nOnE","typ":"at+jwt","kid":"`+kid+`"}`, w.claimsText()),
		"no alg":                 unsigned(`{"typ":"at+jwt","kid":"`+kid+`"}`, w.claimsText()),
		"ES256, empty signature": unsigned(`{"alg":"ES256","typ":"at+jwt","kid":"`+kid+`"}`, w.claimsText()),
	}
}

func (w *world) forgedClaims() map[string]string {
	return map[string]string{
		"aud of two":             w.forge(claim("aud", []string{apiResource, agentResource})),
		"aud of one in an array": w.forge(claim("aud", []string{apiResource})),
		"aud with a slash":       w.forge(claim("aud", apiResource+"/")),
		"aud elsewhere":          w.forge(claim("aud", "http://localhost:9999")),
		"aud is a client id":     w.forge(claim("aud", w.live.ClientID)),
		"no aud":                 w.forge(without("aud")),
		"iss with a slash":       w.forge(claim("iss", w.issuer+"/")),
		"iss in capitals":        w.forge(claim("iss", strings.ToUpper(w.issuer))),
		"other iss":              w.forge(claim("iss", "https://accounts.google.com")),
		"no iss":                 w.forge(without("iss")),
		"expired now":            w.forge(claim("exp", start.Unix())),
		"expired by a second":    w.forge(claim("exp", start.Unix()-1)),
		"no exp":                 w.forge(without("exp")),
		"living for a year":      w.forge(claim("exp", start.Unix()+365*86400)),
		"living for an hour":     w.forge(claim("exp", start.Unix()+3600)),
		"exp zero":               w.forge(claim("exp", 0)),
		"exp as text":            w.forge(claim("exp", "never")),
		"not yet":                w.forge(claim("nbf", start.Unix()+3600)),
		"no jti":                 w.forge(without("jti")),
		"no client_id":           w.forge(without("client_id")),
		"no org":                 w.forge(without("org")),
		"no iat":                 w.forge(without("iat")),
		"no sub":                 w.forge(without("sub")),
		"user without a grant":   w.forge(claim("sub", w.ann.UserID)),
		"grant without a user":   w.forge(claim("gid", core.NewID())),
		"another org":            w.forge(claim("org", w.other.OrgID)),
		"another org's client":   w.forge(claim("client_id", w.other.ClientID)),
		"client never seen":      w.forge(claim("client_id", access.MintClientID(core.Live))),
		"revoked client":         w.forge(claim("client_id", w.revoked.ClientID)),
		"claims of an id token": w.forge(func(f *forgery) {
			f.claims = map[string]any{
				"iss": w.issuer, "sub": w.live.ClientID, "aud": w.live.ClientID, "azp": w.live.ClientID,
				"iat": start.Unix(), "exp": start.Unix() + 900, "nonce": "n", "at_hash": "h", "email": "a@b.example",
			}
		}),
	}
}

func (w *world) forgedShapes(ok string) map[string]string {
	parts := strings.Split(ok, ".")
	return map[string]string{
		"nothing":             "",
		"one part":            parts[0],
		"two parts":           parts[0] + "." + parts[1],
		"four parts":          ok + ".x",
		"no signature":        parts[0] + "." + parts[1] + ".",
		"signature cut":       ok[:len(ok)-2],
		"claims changed":      parts[0] + "." + flip(parts[1]) + "." + parts[2],
		"header changed":      flip(parts[0]) + "." + parts[1] + "." + parts[2],
		"JSON form":           `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"padding":             ok + "==",
		"space":               ok + " ",
		"upper case":          strings.ToUpper(ok),
		"64 KB":               ok + strings.Repeat("A", 64<<10),
		"encrypted form":      parts[0] + "...." + parts[2],
		"a client's secret":   w.live.secret,
		"a client's id":       w.live.ClientID,
		"an unknown API key":  access.MintAPIKey(core.Live).Secret,
		"half an API key":     "sk_live_",
		"token after API key": "sk_live_" + ok,
	}
}

func (w *world) claimsText() string {
	return `{"iss":"` + w.issuer + `","sub":"` + w.live.ClientID + `","client_id":"` + w.live.ClientID + `","aud":"` + apiResource +
		`","iat":1772600767,"exp":4102444800,"jti":"x","scope":"api.account.view","org":"` + w.live.OrgID + `","env":"live"}`
}

func unsigned(header, claims string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
}

func flip(s string) string {
	middle := len(s) / 2
	c := byte('A')
	if s[middle] == 'A' {
		c = 'B'
	}
	return s[:middle] + string(c) + s[middle+1:]
}

func TestTokenLivesToTheSecond(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		token := w.goodToken(w.live)
		w.advance(900*time.Second - time.Microsecond)
		if _, err := w.auth.Authenticate(t.Context(), token, access.API); err != nil {
			t.Errorf("in its last microsecond: %v", err)
		}
		// The token is now in the caches of the authenticator and of the verifier. Neither
		// may accept it after its expiry.
		w.advance(time.Microsecond)
		if _, err := w.auth.Authenticate(t.Context(), token, access.API); err == nil {
			t.Error("accepted at its expiry, out of a cache")
		}
		if _, err := w.verifier.VerifyToken(t.Context(), token, access.API); err == nil {
			t.Error("verified at its expiry")
		}
	})
}

func TestMediaTypeOfTokenMayBeWrittenWhole(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for _, typ := range []string{"application/at+jwt", "AT+JWT"} {
			if _, err := w.auth.Authenticate(t.Context(), w.forge(header("typ", typ)), access.API); err != nil {
				t.Errorf("%s: %v", typ, err)
			}
		}
	})
}

// TestScopesInForce checks that a caller gets only those scopes of the access token that
// the client's registration has, too.
func TestScopesInForce(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		for scope, want := range map[string]string{
			"api.account.view":                "api.account.view",
			"api.account.view api.lists.view": "api.account.view",
			"api.lists.view":                  "",
			"":                                "",
			"api.account.view  api.retired.scope openid":        "api.account.view",
			"api.contacts.view api.account.view api.tags.view ": "api.account.view api.contacts.view",
		} {
			p, err := w.auth.Authenticate(t.Context(), w.forge(claim("scope", scope)), access.API)
			if got := strings.Join(p.Scopes.Strings(), " "); err != nil || got != want {
				t.Errorf("%q: %q, %v", scope, got, err)
			}
		}
	})
}

func TestPrincipalOfAToken(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		p, err := w.auth.Authenticate(t.Context(), w.goodToken(w.test), access.API)
		if err != nil {
			t.Fatal(err)
		}
		want := core.Credential{Kind: core.OAuthClient, ID: w.test.ID, Name: w.test.ClientID, Environment: core.Test}
		if p.Credential != want || p.UserID != "" || p.Org.Slug != "mine" {
			t.Errorf("%+v", p)
		}
		token := w.family(w.app).AccessToken
		p, err = w.auth.Authenticate(t.Context(), token, access.API)
		if err != nil || p.UserID != w.ann.UserID {
			t.Errorf("a token with a user: %+v, %v", p, err)
		}
		if claims := w.claimsOf(token, 1); claims["sub"] != w.ann.UserID || !core.IsID(claims["gid"].(string)) {
			t.Errorf("claims: %v", claims)
		}
	})
}
