package attacks_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestCredentialsAreGoodForOneHost checks that an access token for the public API or for
// the MCP endpoint is accepted by that host and refused by the other hosts.
func TestCredentialsAreGoodForOneHost(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		api, agent := p.Token(t, p.BaseURL), p.Token(t, p.MCPURL)
		// twice, because the second round uses credentials that the first round has put into
		// the cache
		for range 2 {
			caller{p, api}.rest(t, "GET", "/v1/_scopes", "").want(t, 200)
			caller{p, agent}.tool(t, "lists_list", `{}`).want(t, 200)
			caller{p, agent}.rest(t, "GET", "/v1/_scopes", "").want(t, 401)
			caller{p, api}.tool(t, "lists_list", `{}`).want(t, 401)
			caller{p, p.Live.APIKey}.tool(t, "lists_list", `{}`).want(t, 400)
			caller{p, p.Live.ClientSecret}.rest(t, "GET", "/v1/_scopes", "").want(t, 401)
			caller{p, api}.send(t, "GET", p.FetchURL+"/_health", "").want(t, 400)
		}
	})
}

// TestChangedTokensAreRefused checks that the API refuses an access token (a JSON Web
// Token) whose header, payload or signature was changed.
func TestChangedTokensAreRefused(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	good := p.Token(t, p.BaseURL, "api.account.view")
	parts := strings.Split(good, ".")
	header, payload, signature := parts[0], parts[1], parts[2]
	other := strings.Split(p.TokenWith(t, p.Other.Live, p.BaseURL), ".")
	for name, token := range map[string]string{
		"algorithm none":      part(t, header, "alg", "none") + "." + payload + ".",
		"algorithm HS256":     part(t, header, "alg", "HS256") + "." + payload + "." + signature,
		"id token":            part(t, header, "typ", "JWT") + "." + payload + "." + signature,
		"another key":         part(t, header, "kid", "../../etc/passwd") + "." + payload + "." + signature,
		"a key that it has":   part(t, header, "jwk", "x") + "." + payload + "." + signature,
		"critical header":     part(t, header, "crit", "x") + "." + payload + "." + signature,
		"more scopes":         header + "." + part(t, payload, "scope", "api.contacts.manage") + "." + signature,
		"another org":         header + "." + part(t, payload, "org", p.Other.OrgID) + "." + signature,
		"both hosts":          header + "." + part(t, payload, "aud", p.MCPURL) + "." + signature,
		"another's payload":   header + "." + other[1] + "." + signature,
		"another's signature": header + "." + payload + "." + other[2],
		"cut signature":       good[:len(good)-4],
		"padded":              good + "==",
		"four parts":          good + "." + signature,
		"no signature":        header + "." + payload + ".",
		"white space":         header + ". " + payload + "." + signature,
	} {
		got := caller{p, token}.rest(t, "GET", "/v1/account", "")
		if got.status != 401 || got.problem(t).Code != "invalid_key" {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
	caller{p, good}.rest(t, "GET", "/v1/account", "").want(t, 200)
	caller{p, good}.rest(t, "DELETE", "/v1/contacts/"+p.Contact, "").want(t, 403)
}

// part changes the encoded header or payload of a JSON Web Token. It decodes this part,
// sets one member to the given value, and encodes the part again.
func part(t *testing.T, encoded, member, value string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]any{}
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	members[member] = value
	if text, err = json.Marshal(members); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// TestRefusedCredentialsGetEqualAnswers checks that the answer is the same for all refused
// API keys. The answer must not reveal whether a key with the same prefix exists.
func TestRefusedCredentialsGetEqualAnswers(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	key := p.Live.APIKey
	last := key[:len(key)-1]
	changed := last + "A"
	if changed == key {
		changed = last + "B"
	}
	seen := map[string]string{}
	for name, credential := range map[string]string{
		"known prefix": changed, "unknown prefix": "sk_live_" + strings.Repeat("A", 52), "short": "sk_live_A", "rubbish": "x",
		"other environment": strings.Replace(key, "live", "test", 1), "long": strings.Repeat("a", 9000), "lower case": strings.ToLower(key),
	} {
		got := caller{p, credential}.rest(t, "GET", "/v1/contacts/"+p.Contact, "", "X-Request-Id", "same").want(t, 401)
		seen[got.body+got.header.Get("WWW-Authenticate")] = name
	}
	if len(seen) != 1 {
		t.Errorf("there are %d different refusals: %v", len(seen), seen)
	}
}
