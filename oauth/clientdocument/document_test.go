package clientdocument

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const appID = "https://app.example/oauth/client.json"

func parseID(t testing.TB, id string) clientURL {
	t.Helper()
	u, err := readClientID(id)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestDocument(t *testing.T) {
	t.Parallel()
	redirects := []string{
		"https://app.example/cb", "https://app.example:443/cb?x=y", "https://APP.example", "http://localhost/cb", "http://localhost:5000/",
		"http://127.0.0.1:1/cb", "http://[::1]:33418",
	}
	raw := documentFor(appID, members{
		"client_id": "https://App.example:443/oauth/%63lient.json", "client_name": "  My\u202e\n agent ", "redirect_uris": redirects,
		"grant_types": []string{"authorization_code", "refresh_token"}, "token_endpoint_auth_method": "none",
		"scope":          "api.contacts.view openid api.lists.view api.contacts.view  offline_access",
		"response_types": 7, "contacts": []string{"a"}, "Client_Secret": "another member", "x": members{"client_secret": 1},
	})
	got, err := readDocument(parseID(t, appID), raw)
	want := access.ClientDocument{ClientID: appID, Name: "My agent", RedirectURIs: redirects, Scope: []string{"api.contacts.view", "api.lists.view"}}
	if err != nil || !cmp.Equal(want, got) {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, got))
	}
	for name, d := range map[string]struct{ given, shown string }{
		"no name":      {"", "app.example"},
		"invisible":    {"\u200b\u2066 ", "app.example"},
		"long":         {strings.Repeat("ä", 200), strings.Repeat("ä", 99) + "…"},
		"as it stands": {"<b>Bob & Co</b>", "<b>Bob & Co</b>"},
	} {
		got, err := readDocument(parseID(t, appID), documentFor(appID, members{"client_name": d.given}))
		if err != nil || got.Name != d.shown || got.Scope != nil {
			t.Errorf("%s: %v, %q, %v", name, err, got.Name, got.Scope)
		}
	}
	nulls := `{"client_id":"` + appID + `","redirect_uris":["http://localhost/"],"client_name":null,"grant_types":null,"token_endpoint_auth_method":null,"scope":null}`
	if got, err := readDocument(parseID(t, appID), []byte(nulls)); err != nil || got.Name != "app.example" || got.Scope != nil {
		t.Errorf("nulls: %v, %v", err, got)
	}
}

func TestDocumentRules(t *testing.T) {
	t.Parallel()
	uris := func(s ...string) members { return members{"redirect_uris": s} }
	for _, d := range []struct {
		other members
		want  string
	}{
		{members{"client_id": nil}, "no client_id"},
		{members{"client_id": ""}, "client_id"},
		{members{"client_id": 5}, "client_id has the wrong type"},
		{members{"client_id": appID + "/"}, "client_id"},
		{members{"client_id": appID + "?"}, "client_id"},
		{members{"client_id": "https://app.example/oauth/x/../client.json"}, "client_id"},
		{members{"client_id": "https://evil.example/oauth/client.json"}, "client_id"},
		{members{"client_id": "http://app.example/oauth/client.json"}, "client_id"},
		{members{"client_id": "https://app.example:8443/oauth/client.json"}, "client_id"},
		{members{"client_id": "https://app.example/OAuth/client.json"}, "client_id"},
		{members{"redirect_uris": nil}, "no redirect_uris"},
		{members{"redirect_uris": "https://app.example/cb"}, "redirect_uris has the wrong type"},
		{members{"redirect_uris": []any{"https://app.example/cb", 1}}, "redirect_uris has the wrong type"},
		{uris(), "no redirect_uris"},
		{uris(slices.Repeat([]string{"https://app.example/cb"}, 21)...), "at most 20"},
		{uris("https://app.example/cb", "https://evil.example/cb"), "number 2 of the redirect_uris must be on the host"},
		{uris("https://app.example:8443/cb"), "must be on the host"},
		{uris("https://app.example.evil.example/cb"), "must be on the host"},
		{uris("https://evil.example/https://app.example/"), "must be on the host"},
		{uris("https://evil.example?https://app.example/"), "must be on the host"},
		{uris("https://www.app.example/cb"), "must be on the host"},
		{uris("https://app.example./cb"), "must be on the host"},
		{uris("https://app.example:0443/cb"), "must have a port from 1 to 65535"},
		{uris("https://app.example:/cb"), "must have a port from 1 to 65535"},
		{uris("https://localhost/cb"), "must be on the host"},
		{uris("http://app.example/cb"), "must begin with"},
		{uris("http://127.0.0.2/cb"), "must begin with"},
		{uris("http://localhost.evil.example/cb"), "must begin with"},
		{uris("http://localhost@evil.example/cb"), "must not have a user"},
		{uris("https://app.example@evil.example/cb"), "must not have a user"},
		{uris("https://app.example/cb#x"), "fragment"},
		{uris("https://app.example\\@evil.example/cb"), "backslashes"},
		{uris("https://*.app.example/cb"), "wildcards"},
		{uris("myapp://cb"), "must begin with"},
		{uris("javascript:alert(1)//"), "host"},
		{uris(""), "absolute"},
		{members{"grant_types": []string{}}, "authorization_code among"},
		{members{"grant_types": []string{"refresh_token"}}, "authorization_code among"},
		{members{"grant_types": []string{"authorization_code", "client_credentials"}}, "not have client_credentials"},
		{members{"grant_types": []string{"Authorization_Code"}}, "authorization_code among"},
		{members{"grant_types": "authorization_code"}, "grant_types has the wrong type"},
		{members{"token_endpoint_auth_method": "client_secret_basic"}, "auth_method none"},
		{members{"token_endpoint_auth_method": "client_secret_post"}, "auth_method none"},
		{members{"token_endpoint_auth_method": "private_key_jwt"}, "auth_method none"},
		{members{"token_endpoint_auth_method": ""}, "auth_method none"},
		{members{"client_secret": "s"}, "client secret"},
		{members{"client_secret": ""}, "client secret"},
		{members{"client_secret_expires_at": 0}, "client secret"},
		{members{"scope": ""}, "no scope"},
		{members{"scope": "openid profile"}, "no scope"},
		{members{"scope": "API.contacts.view"}, "no scope"},
		{members{"scope": []string{"api.contacts.view"}}, "scope has the wrong type"},
		{members{"client_name": 1}, "client_name has the wrong type"},
	} {
		_, err := readDocument(parseID(t, appID), documentFor(appID, d.other))
		if err == nil {
			t.Errorf("%v passes", d.other)
			continue
		}
		wantRefusal(t, err, d.want)
	}
}

func TestDocumentIsStrictJSON(t *testing.T) {
	t.Parallel()
	good := string(documentFor(appID, nil))
	for _, body := range []string{
		"", " ", "null", "[]", "[" + good + "]", `"x"`, "1", "<html>", good + "x", good + good, good[:len(good)-1], "\ufeff" + good,
		strings.Replace(good, "{", `{"client_id":"https://evil.example/c",`, 1), strings.Replace(good, "{", `{"redirect_uris":[],`, 1),
		strings.Replace(good, "{", `{"x":{"y":1,"y":2},`, 1), strings.Replace(good, "Agent", "Ag\xffent", 1), strings.Replace(good, "Agent", `\u0000`, 1),
		strings.Replace(good, "{", `{"client_secret":null,`, 1), strings.Replace(good, "{", "{//\n", 1), strings.Replace(good, "{", `{"x":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)+",", 1),
	} {
		if _, err := readDocument(parseID(t, appID), []byte(body)); err == nil {
			t.Errorf("%.60q passes", body)
		} else {
			wantRefusal(t, err, "metadata document")
		}
	}
}

// isOwnRedirect reports whether a redirect URI is on the loopback or at app.example. It
// parses with net/url, so that it does not share a mistake with the product's check.
func isOwnRedirect(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.User != nil || u.Fragment != "" {
		return false
	}
	if u.Scheme == "http" {
		return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
	}
	return u.Scheme == "https" && strings.EqualFold(u.Hostname(), "app.example") && (u.Port() == "" || u.Port() == "443")
}

// FuzzDocument checks that every accepted document keeps the rules for names, scopes and
// redirect URIs.
func FuzzDocument(f *testing.F) {
	for _, other := range []members{nil, {"scope": "api.contacts.view x"}, {"client_secret": 1}, {"grant_types": []string{"client_credentials"}}, {"redirect_uris": []string{"http://[::1]:1/", "https://APP.example:443?"}}} {
		f.Add(documentFor(appID, other))
	}
	f.Add([]byte(`{"client_id":"` + appID + `","redirect_uris":["https://app.example"],"Client_ID":1}`))
	u := parseID(f, appID)
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := readDocument(u, body)
		if err != nil {
			wantRefusal(t, err, "")
			return
		}
		if d.ClientID != appID || d.Name == "" || utf8.RuneCountInString(d.Name) > maxName || d.Name != core.Quotable(d.Name, maxName) {
			t.Fatalf("%+v", d)
		}
		if len(d.RedirectURIs) == 0 || d.Scope != nil && len(d.Scope) == 0 {
			t.Fatalf("%+v", d)
		}
		for _, uri := range d.RedirectURIs {
			if !isOwnRedirect(uri) || access.CheckRedirectURI(uri) != nil {
				t.Fatalf("%q passes", uri)
			}
		}
		for _, s := range d.Scope {
			if !core.Scope(s).IsKnown() {
				t.Fatalf("%q passes", s)
			}
		}
	})
}
