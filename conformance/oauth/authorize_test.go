package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// TestAuthorizationNeverRedirectsToAStranger checks requests with an unknown client, with a
// missing or repeated redirect URI, or with one that is not registered for the client. It
// also checks redirect URIs that are registered but not allowed, such as http:// URIs of a
// public host. Each request must be refused without a redirect.
func TestAuthorizationNeverRedirectsToAStranger(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		native := w.selfRegistered("", "http://localhost:7777/cb")
		plain := w.application(w.live.OrgID, "", "http://app.example/cb", "myapp:/cb")
		for _, q := range []string{
			"", "%zz", "a;b", query(w.app, "client_id", "-"), query(w.app, "client_id", "oc_live_nobody"),
			query(w.app, "client_id", w.native.ClientID), query(w.app) + "&client_id=" + w.app.ClientID,
			query(registeredClient{Client: access.Client{ClientID: w.public.ClientID, RedirectURIs: []string{callback}}}),
			query(registeredClient{Client: access.Client{ClientID: w.revoked.ClientID, RedirectURIs: []string{callback}}}),
			query(w.app) + "&redirect_uri=" + callback, query(w.app, "x", strings.Repeat("x", 17<<10)),
			query(plain), query(plain, "redirect_uri", "myapp:/cb"), query(w.app, "redirect_uri", "-"),
			query(native, "redirect_uri", "http://127.0.0.1:7777/cb"), query(native, "redirect_uri", "http://[::1]:7777/cb"),
			query(native, "redirect_uri", "https://localhost:7777/cb"), query(native, "redirect_uri", "http://localhost.evil.example/cb"),
			query(native, "redirect_uri", "http://localhost:7777@evil.example/cb"), query(native, "redirect_uri", "http://localhost:/cb"),
			query(native, "redirect_uri", "http://localhost:0/cb"), query(native, "redirect_uri", "http://localhost:65536/cb"),
			query(native, "redirect_uri", "http://localhost:07777/cb"), query(native, "redirect_uri", "http://localhost:+7/cb"),
			query(native, "redirect_uri", "http://localhost:7777/CB"), query(native, "redirect_uri", "http://localhost:7777/cb?x"),
			query(native, "redirect_uri", "http://LOCALHOST:7777/cb"), query(native, "redirect_uri", "http://localhost.:7777/cb"),
		} {
			w.expectNoRedirect(t, q)
		}
		for _, uri := range redirectMutations {
			w.expectNoRedirect(t, query(w.app, "redirect_uri", uri))
		}
	})
}

func (w *world) expectNoRedirect(t *testing.T, q string) {
	t.Helper()
	_, refused := w.server.ReadAuthorization(t.Context(), q)
	if refused == nil || refused.Redirect != "" || refused.Message == "" || refused.Err != nil {
		t.Errorf("%s: %+v", q, refused)
	}
}

// TestAuthorizationErrorsGoBack checks invalid requests that name a known client and one of
// its redirect URIs. Each must redirect to the client with an error, the request's state
// and the server's issuer.
func TestAuthorizationErrorsGoBack(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		good := query(w.app)
		for name, c := range map[string]struct{ query, code string }{
			"no response_type":       {query(w.app, "response_type", "-"), "invalid_request"},
			"empty response_type":    {query(w.app, "response_type", ""), "invalid_request"},
			"token":                  {query(w.app, "response_type", "token"), "unsupported_response_type"},
			"code token":             {query(w.app, "response_type", "code token"), "unsupported_response_type"},
			"code in capitals":       {query(w.app, "response_type", "CODE"), "unsupported_response_type"},
			"fragment":               {query(w.app, "response_mode", "fragment"), "invalid_request"},
			"form_post":              {query(w.app, "response_mode", "form_post"), "invalid_request"},
			"no challenge":           {query(w.app, "code_challenge", "-"), "invalid_request"},
			"no method":              {query(w.app, "code_challenge_method", "-"), "invalid_request"},
			"plain":                  {query(w.app, "code_challenge_method", "plain"), "invalid_request"},
			"method in small":        {query(w.app, "code_challenge_method", "s256"), "invalid_request"},
			"short challenge":        {query(w.app, "code_challenge", challengeOf(verifier)[:42]), "invalid_request"},
			"long challenge":         {query(w.app, "code_challenge", challengeOf(verifier)+"A"), "invalid_request"},
			"padded challenge":       {query(w.app, "code_challenge", challengeOf(verifier)+"="), "invalid_request"},
			"challenge not Base64":   {query(w.app, "code_challenge", strings.Repeat("+", 43)), "invalid_request"},
			"challenge, spare bits":  {query(w.app, "code_challenge", strings.Repeat("A", 42)+"B"), "invalid_request"},
			"unknown scope":          {query(w.app, "scope", "api.nothing"), "invalid_scope"},
			"no scope registered":    {query(w.app, "scope", "api.lists.view api.topics.view"), "invalid_scope"},
			"openid":                 {query(w.app, "scope", "openid"), "invalid_scope"},
			"unknown resource":       {query(w.app, "resource", "https://api.example"), "invalid_target"},
			"relative resource":      {query(w.app, "resource", "/v1"), "invalid_target"},
			"resource with fragment": {query(w.app, "resource", apiResource+"#"), "invalid_target"},
			"two resources":          {good + "&resource=" + apiResource + "&resource=" + agentResource, "invalid_target"},
			"response_type twice":    {good + "&response_type=code", "invalid_request"},
			"scope twice":            {good + "&scope=api.account.view&scope=api.account.view", "invalid_request"},
			"challenge twice":        {good + "&code_challenge=" + challengeOf(verifier), "invalid_request"},
			"method twice":           {good + "&code_challenge_method=plain", "invalid_request"},
			"control character":      {query(w.app, "scope", "api.account.view\x00"), "invalid_request"},
		} {
			_, refused := w.server.ReadAuthorization(t.Context(), c.query)
			if refused == nil {
				t.Errorf("%s: accepted", name)
				continue
			}
			got := w.returned(callback, refused.Redirect)
			if got.Get("error") != c.code || got.Get("error_description") == "" || got.Get("state") != "s 1&" || got.Get("iss") != w.issuer || got.Has("code") {
				t.Errorf("%s: %v", name, got)
			}
		}
		_, refused := w.server.ReadAuthorization(t.Context(), good+"&state=2")
		if got := w.returned(callback, refused.Redirect); got.Get("error") != "invalid_request" || got.Has("state") {
			t.Errorf("state twice: %v", got)
		}
	})
}

// returned checks that the address redirect begins with uri. It returns the query
// parameters that redirect has after uri.
func (w *world) returned(uri, redirect string) url.Values {
	w.t.Helper()
	rest, ok := strings.CutPrefix(redirect, uri)
	if !ok {
		w.t.Fatalf("%s does not begin with %s", redirect, uri)
	}
	values, err := url.ParseQuery(rest[1:])
	w.must(err)
	return values
}

func TestAuthorizationRequestIsRead(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			pairs    []string
			scopes   string
			resource string
		}{
			"defaults":            {nil, appScopes, apiResource},
			"empty parameters":    {[]string{"scope", "", "resource", "", "response_mode", "", "x", "y"}, appScopes, apiResource},
			"a subset":            {[]string{"scope", " api.account.view  api.account.view"}, "api.account.view", apiResource},
			"more than it has":    {[]string{"scope", "api.lists.view api.account.view"}, "api.account.view", apiResource},
			"the agent endpoint":  {[]string{"resource", agentResource}, appScopes, agentResource},
			"with a slash":        {[]string{"resource", agentResource + "/", "response_mode", "query"}, appScopes, agentResource},
			"prompt is not ours":  {[]string{"prompt", "consent", "nonce", "n"}, appScopes, apiResource},
			"another of its URIs": {[]string{"redirect_uri", callback + "?tenant=1"}, appScopes, apiResource},
		} {
			got := w.authorization(w.app, c.pairs...)
			if strings.Join(got.Scopes.Strings(), " ") != c.scopes || got.ResourceURL != c.resource || got.Client.ID != w.app.ID ||
				got.State != "s 1&" || got.Challenge != challengeOf(verifier) || (got.Resource == access.Agent) != (c.resource == agentResource) {
				t.Errorf("%s: %+v", name, got)
			}
		}
		q := query(w.app, "resource", apiResource) + "&resource=" + apiResource + "/"
		if _, refused := w.server.ReadAuthorization(t.Context(), q); refused != nil {
			t.Errorf("the same resource twice: %+v", refused)
		}
		native := w.selfRegistered("", loopback)
		for _, uri := range []string{loopback, "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb"} {
			if got := w.authorization(native, "redirect_uri", uri); got.RedirectURI != uri {
				t.Errorf("%s became %s", uri, got.RedirectURI)
			}
		}
	})
}

func TestApprovalAnswers(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		request := w.authorization(w.app, "redirect_uri", callback+"?tenant=1")
		redirect, err := w.server.Approve(t.Context(), request, w.ann, core.AllScopes())
		w.must(err)
		got := w.returned(callback+"?tenant=1", redirect)
		if len(got.Get("code")) < 43 || got.Get("state") != "s 1&" || got.Get("iss") != w.issuer || got.Has("error") {
			t.Errorf("approved: %v", got)
		}
		got = w.returned(callback+"?tenant=1", w.server.Deny(request))
		if got.Get("error") != "access_denied" || got.Get("state") != "s 1&" || got.Get("iss") != w.issuer || got.Has("code") {
			t.Errorf("denied: %v", got)
		}
		without := w.authorization(w.app, "state", "-")
		if got := w.returned(callback, w.server.Deny(without)); got.Has("state") {
			t.Errorf("a state that nobody sent: %v", got)
		}
	})
}

// TestApprovalIsACeiling checks that a grant holds only scopes that the client requested,
// the person selected and the person's permissions allow.
func TestApprovalIsACeiling(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		bob := w.person(w.app.OrgID, "bob", members.PlainMember, members.MayViewAccount, members.MayManageContacts, members.MayViewLists)
		request := w.authorization(w.app, "scope", "api.account.view api.contacts.view")
		_, err := w.server.Approve(t.Context(), request, bob, core.AllScopes())
		w.must(err)
		grants, err := w.db.Grants().Grants(t.Context(), bob.OrgID, access.GrantFilter{UserID: bob.UserID, Limit: 10})
		w.must(err)
		end := start.AddDate(0, 0, 30)
		want := []access.Grant{{
			ID: grants[0].ID, OrgID: bob.OrgID, UserID: bob.UserID, ClientID: w.app.ClientID, Resource: access.API,
			Scopes: core.NewScopes("api.account.view"), CreatedAt: start, ExpiresAt: &end,
		}}
		if diff := cmp.Diff(want, grants); diff != "" {
			t.Error(diff)
		}
		_, err = w.server.Approve(t.Context(), request, bob, core.NewScopes("api.contacts.view"))
		if err == nil || core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("nothing left to grant: %v", err)
		}
		stranger := w.person(w.other.OrgID, "eve", members.Owner)
		for name, m := range map[string]members.Member{"another organization": stranger, "nobody": {}} {
			if _, err := w.server.Approve(t.Context(), request, m, core.AllScopes()); err == nil || core.AsError(err).Code != core.CodeNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
