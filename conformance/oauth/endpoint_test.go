package oauth_test

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func basic(user, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))
}

// attempt is an invalid request to the token endpoint, and the expected error.
type attempt struct {
	name   string
	method string // POST unless said
	path   string // after that of the endpoint
	body   string
	header http.Header
	status int
	code   string
}

func (w *world) expectRefused(t *testing.T, attempts []attempt) {
	t.Helper()
	for _, c := range attempts {
		t.Run(c.name, func(t *testing.T) {
			r := w.request(cmp.Or(c.method, http.MethodPost), "/oauth/token"+c.path, c.body)
			r.Header.Set("Content-Type", form)
			maps.Copy(r.Header, c.header)
			a := w.do(r)
			w.expectError(a, c.status, c.code)
			if a.AccessToken != "" {
				t.Error("a token was issued")
			}
			if c.status == 405 && a.header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("Allow %q", a.header.Get("Allow"))
			}
		})
	}
}

const cc = "grant_type=client_credentials"

// inBody returns the client's id and secret as form parameters, beginning with "&".
func (c registeredClient) inBody() string {
	return "&client_id=" + c.ClientID + "&client_secret=" + c.secret
}

func TestTokenEndpointRefusesMalformedForms(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		credentials := w.live.inBody()
		w.expectRefused(t, []attempt{
			{name: "GET", method: "GET", path: "?" + cc + credentials, status: 405, code: "invalid_request"},
			{name: "PUT", method: "PUT", body: cc + credentials, status: 405, code: "invalid_request"},
			{name: "secret in the query", path: "?" + credentials[1:], body: cc, status: 400, code: "invalid_request"},
			{name: "grant in the query", path: "?" + cc, body: credentials[1:], status: 400, code: "invalid_request"},
			{name: "any query", path: "?x=y", body: cc + credentials, status: 400, code: "invalid_request"},
			{name: "JSON", body: `{"grant_type":"client_credentials"}`, header: http.Header{"Content-Type": {"application/json"}}, status: 400, code: "invalid_request"},
			{name: "multipart", body: cc + credentials, header: http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, status: 400, code: "invalid_request"},
			{name: "no content type", body: cc + credentials, header: http.Header{"Content-Type": nil}, status: 400, code: "invalid_request"},
			{name: "gzip", body: cc + credentials, header: http.Header{"Content-Encoding": {"gzip"}}, status: 400, code: "invalid_request"},
			{name: "over 64 KB", body: cc + credentials + "&x=" + strings.Repeat("a", 64<<10), status: 413, code: "invalid_request"},
			{name: "empty body", status: 401, code: "invalid_client"},
			{name: "bad escape", body: cc + credentials + "&x=%zz", status: 400, code: "invalid_request"},
			{name: "semicolon", body: cc + ";x=y" + credentials, status: 400, code: "invalid_request"},
			{name: "NUL", body: cc + credentials + "&scope=a%00b", status: 400, code: "invalid_request"},
			{name: "NUL in a name", body: cc + credentials + "&a%00b=c", status: 400, code: "invalid_request"},
			{name: "newline in a scope", body: cc + credentials + "&scope=api.account.view%0Aapi.lists.view", status: 400, code: "invalid_request"},
			{name: "not UTF-8", body: cc + credentials + "&scope=%ff", status: 400, code: "invalid_request"},
			{name: "grant_type twice", body: cc + "&" + cc + credentials, status: 400, code: "invalid_request"},
			{name: "scope twice", body: cc + credentials + "&scope=api.account.view&scope=api.account.view", status: 400, code: "invalid_request"},
			{name: "scope twice, once empty", body: cc + credentials + "&scope=&scope=api.account.view", status: 400, code: "invalid_request"},
			{name: "secret twice", body: cc + credentials + "&client_secret=" + w.live.secret, status: 400, code: "invalid_request"},
			{name: "unknown parameter twice", body: cc + credentials + "&x=1&x=2", status: 400, code: "invalid_request"},
			{name: "no grant_type", body: credentials[1:], status: 400, code: "invalid_request"},
			{name: "empty grant_type", body: "grant_type=" + credentials, status: 400, code: "invalid_request"},
			{name: "code without a verifier", body: "grant_type=authorization_code&code=x&redirect_uri=y" + credentials, status: 400, code: "invalid_request"},
			{name: "no code", body: "grant_type=authorization_code&redirect_uri=y&code_verifier=z" + credentials, status: 400, code: "invalid_request"},
			{name: "code without a redirect URI", body: "grant_type=authorization_code&code=x&code_verifier=z" + credentials, status: 400, code: "invalid_request"},
			{name: "no refresh token", body: "grant_type=refresh_token&refresh_token=" + credentials, status: 400, code: "invalid_request"},
			{name: "unknown refresh token", body: "grant_type=refresh_token&refresh_token=ocr_x" + credentials, status: 400, code: "invalid_grant"},
			{name: "password", body: "grant_type=password&username=a&password=b" + credentials, status: 400, code: "unsupported_grant_type"},
			{name: "jwt-bearer", body: "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=x" + credentials, status: 400, code: "unsupported_grant_type"},
			{name: "token exchange", body: "grant_type=urn:ietf:params:oauth:grant-type:token-exchange" + credentials, status: 400, code: "unsupported_grant_type"},
			{name: "device code", body: "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=x" + credentials, status: 400, code: "unsupported_grant_type"},
			{name: "grant in other case", body: "grant_type=Client_Credentials" + credentials, status: 400, code: "unsupported_grant_type"},
		})
	})
}

func TestTokenEndpointRefusesMalformedAuthentication(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		credentials, good := w.live.inBody(), basic(w.live.ClientID, w.live.secret)
		w.expectRefused(t, []attempt{
			{name: "no client", body: cc, status: 401, code: "invalid_client"},
			{name: "client_assertion", body: cc + "&client_assertion=x&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer", status: 401, code: "invalid_client"},
			{name: "assertion beside the secret", body: cc + credentials + "&client_assertion=x", status: 401, code: "invalid_client"},
			{name: "both methods", body: cc + credentials, header: http.Header{"Authorization": {good}}, status: 400, code: "invalid_request"},
			{name: "Basic and client_secret alone", body: cc + "&client_secret=" + w.live.secret, header: http.Header{"Authorization": {good}}, status: 400, code: "invalid_request"},
			{name: "Basic and another client_id", body: cc + "&client_id=" + w.other.ClientID, header: http.Header{"Authorization": {good}}, status: 400, code: "invalid_request"},
			{name: "two Authorization headers", body: cc, header: http.Header{"Authorization": {good, good}}, status: 400, code: "invalid_request"},
			{name: "Basic that is not Base64", body: cc, header: http.Header{"Authorization": {"Basic ????"}}, status: 401, code: "invalid_client"},
			{name: "Basic without a colon", body: cc, header: http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("abc"))}}, status: 401, code: "invalid_client"},
			{name: "Basic with a bad escape", body: cc, header: http.Header{"Authorization": {basic(w.live.ClientID, "%zz")}}, status: 401, code: "invalid_client"},
			{name: "Basic without a user", body: cc, header: http.Header{"Authorization": {basic("", w.live.secret)}}, status: 401, code: "invalid_client"},
			{name: "Basic without a secret", body: cc, header: http.Header{"Authorization": {basic(w.live.ClientID, "")}}, status: 401, code: "invalid_client"},
			{name: "Bearer", body: cc + credentials, header: http.Header{"Authorization": {"Bearer abc"}}, status: 401, code: "invalid_client"},
			{name: "empty Authorization", body: cc + credentials, header: http.Header{"Authorization": {""}}, status: 401, code: "invalid_client"},
		})
	})
}

func TestTokenEndpointAcceptsWhatClientsSend(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		credentials := w.live.inBody()
		for _, c := range []struct {
			name   string
			body   string
			header http.Header
		}{
			{name: "secret in the body", body: cc + credentials},
			{name: "Basic", body: cc, header: http.Header{"Authorization": {basic(w.live.ClientID, w.live.secret)}}},
			{name: "Basic, encoded beyond need", body: cc, header: http.Header{"Authorization": {basic(strings.ReplaceAll(w.live.ClientID, "_", "%5F"), strings.ReplaceAll(w.live.secret, "_", "%5f"))}}},
			{name: "Basic, percent-encoded", body: cc, header: http.Header{"Authorization": {basic(url.QueryEscape(w.live.ClientID), url.QueryEscape(w.live.secret))}}},
			{name: "basic in lower case", body: cc, header: http.Header{"Authorization": {"basic" + basic(w.live.ClientID, w.live.secret)[5:]}}},
			{name: "Basic and the same client_id", body: cc + "&client_id=" + w.live.ClientID, header: http.Header{"Authorization": {basic(w.live.ClientID, w.live.secret)}}},
			{name: "Basic and an empty client_secret", body: cc + "&client_secret=", header: http.Header{"Authorization": {basic(w.live.ClientID, w.live.secret)}}},
			{name: "charset", body: cc + credentials, header: http.Header{"Content-Type": {form + "; charset=utf-8"}}},
			{name: "empty parameters", body: cc + credentials + "&scope=&resource=&redirect_uri=&code="},
			{name: "unknown parameters", body: cc + credentials + "&audience=x&scope.0=y&a[b]=c"},
			{name: "just under 64 KB", body: cc + credentials + "&x=" + strings.Repeat("a", 63<<10)},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := w.request(http.MethodPost, "/oauth/token", c.body)
				r.Header.Set("Content-Type", form)
				maps.Copy(r.Header, c.header)
				if a := w.do(r); a.status != http.StatusOK || a.AccessToken == "" {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
	})
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for given, echoed := range map[string]bool{
			"abc-1.2:3_x":            true,
			strings.Repeat("a", 128): true,
			strings.Repeat("a", 129): false,
			"with space":             false,
			"<script>":               false,
			"":                       false,
		} {
			r := w.request(http.MethodGet, "/.well-known/jwks.json", "")
			r.Header.Set("X-Request-Id", given)
			if got := w.do(r).header.Get("X-Request-Id"); (got == given) != echoed || got == "" {
				t.Errorf("%q: %q", given, got)
			}
		}
	})
}
