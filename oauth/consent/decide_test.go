package consent_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/oauth/consent"
)

func with(form url.Values, name, value string) url.Values {
	changed := url.Values{}
	for k, v := range form {
		changed[k] = slices.Clone(v)
	}
	changed.Set(name, value)
	return changed
}

func TestSignInComesFirstAndLeadsBack(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := &browser{office: o}
	r := b.send("GET", consent.Path+"?"+o.request(), nil)
	path, parameters := location(t, r)
	if r.StatusCode != http.StatusSeeOther || path != "/login" || parameters.Get("next") != consent.Path+"?"+o.request() {
		t.Fatalf("%d to %s with %v", r.StatusCode, path, parameters)
	}
	r = b.send("POST", "/login", url.Values{"email": {email}, "password": {password}, "next": {parameters.Get("next")}})
	if got := r.Header.Get("Location"); got != consent.Path+"?"+o.request() {
		t.Errorf("after signing in: %s", got)
	}
}

func TestApproving(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	page, form := b.open(o.request("resource", "https://mcp.test"))
	for _, want := range []string{"&lt;i&gt;Robot&lt;/i&gt;", "Acme", ">live<", "client.test", "the agent endpoint", "personal data", "Create, change and archive contacts."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if got := form["scope"]; !slices.Equal(got, []string{"api.contacts.view", "api.lists.view"}) {
		t.Errorf("marked beforehand: %v", got)
	}
	r := b.send("POST", consent.Path, with(form, "decision", "approve"))
	to, parameters := location(t, r)
	if r.StatusCode != http.StatusSeeOther || to != redirect || parameters.Get("code") == "" || parameters.Get("state") != "s&\"<1>" || parameters.Get("iss") != appURL {
		t.Fatalf("%d to %s with %v", r.StatusCode, to, parameters)
	}
	if r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers of the redirect: %v", r.Header)
	}
	grants := o.grants()
	if len(grants) != 1 || !slices.Equal(grants[0].Scopes.Strings(), []string{"api.contacts.view", "api.lists.view"}) || grants[0].Resource != access.Agent {
		t.Errorf("grants %+v", grants)
	}
}

func TestDeclining(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	_, form := b.open(o.request())
	r := b.send("POST", consent.Path, with(form, "decision", "deny"))
	to, parameters := location(t, r)
	if r.StatusCode != http.StatusSeeOther || to != redirect || parameters.Get("error") != "access_denied" || parameters.Get("state") == "" || parameters.Has("code") {
		t.Errorf("%d to %s with %v", r.StatusCode, to, parameters)
	}
	if len(o.grants()) != 0 {
		t.Error("declining left a grant")
	}
}

// TestForgedDecisions checks that a consent form is accepted only from its own session,
// organization, authorization request and site.
func TestForgedDecisions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	_, form := b.open(o.request())
	form.Set("decision", "approve")
	_, ofAnother := o.signedIn().open(o.request())
	for name, tc := range map[string]struct {
		form    url.Values
		headers []string
		status  int
	}{
		"no token":                 {with(form, "token", ""), nil, http.StatusForbidden},
		"token of another session": {with(form, "token", ofAnother.Get("token")), nil, http.StatusForbidden},
		"another request":          {with(form, "request", o.request("scope", "api.contacts.manage")), nil, http.StatusForbidden},
		"another organization":     {with(form, "org_id", o.zeta.ID), nil, http.StatusConflict},
		"no decision":              {with(form, "decision", ""), nil, http.StatusUnprocessableEntity},
		"other site":               {form, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"other origin":             {form, []string{"Sec-Fetch-Site", "", "Origin", "https://evil.test"}, http.StatusForbidden},
		"no request":               {with(form, "request", ""), nil, http.StatusBadRequest},
	} {
		r := b.send("POST", consent.Path, tc.form, tc.headers...)
		if r.StatusCode != tc.status || r.Header.Get("Location") != "" {
			t.Errorf("%s: %d to %q", name, r.StatusCode, r.Header.Get("Location"))
		}
	}
	if len(o.grants()) != 0 {
		t.Error("a forged decision left a grant")
	}
	r := (&browser{office: o}).send("POST", consent.Path, form)
	if path, _ := location(t, r); r.StatusCode != http.StatusSeeOther || path != "/login" {
		t.Errorf("without a session: %d to %s", r.StatusCode, path)
	}
}

func TestOrganizationSwitchedMeanwhile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	_, form := b.open(o.request())
	form.Set("decision", "approve")
	b.switchTo(o.zeta)
	r := b.send("POST", consent.Path, form)
	if page := r.body; r.StatusCode != http.StatusConflict || !strings.Contains(page, "Switch to Acme") {
		t.Errorf("in the wrong organization: %d %s", r.StatusCode, page)
	}
	if len(o.grants()) != 0 {
		t.Fatal("a grant in an organization that the person did not see")
	}
	b.switchTo(o.acme)
	if r := b.send("POST", consent.Path, form); r.StatusCode != http.StatusSeeOther {
		t.Errorf("back again: %d", r.StatusCode)
	}
}

func TestClientOfAForeignOrganization(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	o.must(o.db.Members().RemoveMember(t.Context(), o.acme.ID, o.user.ID))
	r := b.send("GET", consent.Path+"?"+o.request(), nil)
	if page := r.body; r.StatusCode != http.StatusConflict || strings.Contains(page, "Acme") || strings.Contains(page, "Robot") {
		t.Errorf("%d %s", r.StatusCode, page)
	}
}

func TestOnlyWhatThePersonMay(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	o.must(o.db.Members().SetMember(t.Context(), members.Member{
		OrgID: o.acme.ID, UserID: o.user.ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewLists},
	}))
	page, form := b.open(o.request())
	if !slices.Equal(form["scope"], []string{"api.lists.view"}) || strings.Count(page, " disabled>") != 3 {
		t.Errorf("marked %v, %d not offered", form["scope"], strings.Count(page, " disabled>"))
	}
	form["scope"] = []string{"api.contacts.view", "api.contacts.manage", "api.account.view", "made.up"}
	r := b.send("POST", consent.Path, with(form, "decision", "approve"))
	if r.StatusCode != http.StatusUnprocessableEntity || len(o.grants()) != 0 {
		t.Errorf("scopes the person has not got: %d", r.StatusCode)
	}
	form["scope"] = append(form["scope"], "api.lists.view")
	b.send("POST", consent.Path, with(form, "decision", "approve"))
	if grants := o.grants(); len(grants) != 1 || !slices.Equal(grants[0].Scopes, core.NewScopes("api.lists.view")) {
		t.Errorf("grants %+v", grants)
	}
}
