package dashboard_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// token returns an access token for a resource, which is BaseURL or MCPURL of the product,
// with these scopes. The signed-in person grants it to the application "Assistant" on the
// consent page.
func (b *browser) token(resource string, scopes ...string) string {
	b.t.Helper()
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: b.p.OrgID, Name: "Assistant", Environment: core.Live,
		Scopes: core.NewScopes(scopes...), RedirectURIs: []string{"http://localhost/callback"}, CreatedAt: b.p.Clock.Now(),
	}
	if err := b.p.DB.Clients().InsertClient(b.t.Context(), client); err != nil {
		b.t.Fatal(err)
	}
	const verifier = "a-verifier-of-forty-three-characters-or-more-1"
	challenge := sha256.Sum256([]byte(verifier))
	page := b.open("/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {client.ClientID}, "redirect_uri": {"http://localhost/callback"}, "resource": {resource},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"}, "state": {"x"},
	}.Encode())
	form := b.form(page, "/oauth/authorize")
	form["scope"], form["decision"] = scopes, []string{"approve"}
	_, location, text := b.send("/oauth/authorize", form)
	back, err := url.Parse(location)
	if err != nil || back.Query().Get("code") == "" {
		b.t.Fatalf("no code: %s %v %s", location, err, text)
	}
	answer, err := b.p.HTTP.PostForm(b.p.AuthURL+"/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client.ClientID}, "code": {back.Query().Get("code")},
		"redirect_uri": {"http://localhost/callback"}, "code_verifier": {verifier},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&issued); err != nil || issued.AccessToken == "" {
		b.t.Fatalf("no token: %d %v", answer.StatusCode, err)
	}
	return issued.AccessToken
}

// TestARemovedPermissionAppliesAtOnce checks that a change of a member's permissions takes
// effect with the next request, even with an access token that was issued before.
func TestARemovedPermissionAppliesAtOnce(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, ada := owner(t, p), person(t, p, "ada", members.PlainMember, members.MayViewLists)
		hers := newBrowser(t, p)
		hers.signIn(ada.Email, personPassword)
		token, here := hers.token(p.BaseURL, "api.lists.view"), "/dashboard/members/"+ada.ID
		calls(t, p, "/v1/lists", token, http.StatusOK)
		page := boss.submit(boss.open(here), here+"/permissions", func(form url.Values) {
			if !slices.Equal(form["permission"], []string{"lists.view"}) {
				t.Errorf("the form has %v", form["permission"])
			}
			form["permission"] = []string{"contacts.view"}
		})
		boss.wants(page, "The permissions are changed", "1 of ")
		calls(t, p, "/v1/lists", token, http.StatusForbidden)
		boss.submit(boss.open(here), here+"/permissions", func(form url.Values) { form.Add("permission", "lists.view") })
		calls(t, p, "/v1/lists", token, http.StatusOK)
		boss.wants(boss.submit(boss.open(here), here+"/remove", unchanged), "is no longer a member of the organization")
		calls(t, p, "/v1/lists", token, http.StatusUnauthorized)
		if status, location, _ := hers.send("/dashboard", nil); status == http.StatusOK {
			t.Errorf("who was removed sees the dashboard: %s", location)
		}
	})
}

func TestMembersSeeAndMayOnlyWhatIsTheirs(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	ada := person(t, p, "ada", members.PlainMember)
	eve := person(t, p, "eve<b>", members.PlainMember, members.MayManageMembers, members.MayViewLists)
	hers := newBrowser(t, p)
	hers.signIn(ada.Email, personPassword)
	page := hers.open("/dashboard/members")
	hers.wants(page, p.UserEmail, "eve&lt;b&gt;", "Leave")
	if strings.Contains(page, "Invite a member") || strings.Contains(page, "/dashboard/members/"+eve.ID) {
		t.Error("somebody who manages nobody is offered to")
	}
	for _, path := range []string{"/members/" + eve.ID, "/members/invite", "/settings", "/audit"} {
		if status, _, text := hers.send("/dashboard"+path, nil); status != http.StatusForbidden || !strings.Contains(text, "Permission missing") {
			t.Errorf("%s: %d", path, status)
		}
	}
	// A member who may manage members can grant only permissions that this member has.
	if err := p.DB.Members().SetMember(t.Context(), members.Member{OrgID: p.OrgID, UserID: ada.ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayManageMembers, members.MayViewLists}}); err != nil {
		t.Fatal(err)
	}
	page = hers.open("/dashboard/members/" + eve.ID)
	hers.wants(page, "you do not have this permission")
	form := hers.form(page, "/dashboard/members/"+eve.ID+"/permissions")
	form.Add("permission", "org.manage")
	if status, _, text := hers.send("/dashboard/members/"+eve.ID+"/permissions", form); status != http.StatusForbidden || !strings.Contains(text, "you cannot give it") {
		t.Errorf("gave what she lacks: %d %s", status, text)
	}
	if strings.Contains(page, "/role") {
		t.Error("a member is offered to make owners")
	}
	for _, id := range []string{core.NewID(), "x", "%00"} {
		if status, _, _ := hers.send("/dashboard/members/"+id, nil); status != http.StatusNotFound {
			t.Errorf("member %s: %d", id, status)
		}
	}
	form.Del("token")
	if status, _, _ := hers.send("/dashboard/members/"+eve.ID+"/remove", form); status != http.StatusForbidden {
		t.Errorf("a form without its token: %d", status)
	}
}

var shownLink = regexp.MustCompile(`<code>([^<]*/join\?token=[A-Z2-7]{52})</code>`)

// invites creates an invitation on the page and returns the path of its link.
func (b *browser) invites(email string, may ...string) string {
	b.t.Helper()
	page := b.submit(b.open("/dashboard/members/invite"), "/dashboard/members/invite", func(form url.Values) {
		form.Set("email", email)
		form.Set("role", "member")
		form["permission"] = may
	})
	found := shownLink.FindStringSubmatch(page)
	if found == nil {
		b.t.Fatalf("no link: %s", page)
	}
	return strings.TrimPrefix(html.UnescapeString(found[1]), b.p.AppURL)
}

func TestJoining(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)

		// An invited person without an account chooses a name and a password, and is then
		// signed in.
		link := boss.invites("new@example.com", "lists.view")
		if strings.Contains(boss.open("/dashboard/members"), link[len("/join?token="):]) {
			t.Error("the link is shown again")
		}
		boss.wants(boss.open("/dashboard/members"), "new@example.com", "With 1 permission")
		guest := newBrowser(t, p)
		guest.wants(guest.open(link), "new@example.com", "Choose a password")
		form := guest.form(guest.open(link), "/join")
		form.Set("name", "New")
		form.Set("password", "short")
		if status, _, text := guest.send("/join", form); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || !strings.Contains(text, "must have from 8") {
			t.Errorf("a short password: %d %s", status, text)
		}
		page := guest.submit(guest.open(link), "/join", func(form url.Values) {
			form.Set("name", "New")
			form.Set("password", "long enough")
		})
		guest.wants(page, "new@example.com")
		if status, _, _ := guest.send(link, nil); status != http.StatusNotFound {
			t.Errorf("a used link: %d", status)
		}

		// A signed-in person cannot accept an invitation for another person's address.
		link = boss.invites("other@example.com")
		boss.wants(boss.open(link), "You are signed in as")
		if status, _, _ := boss.send("/join", url.Values{"invitation": {link[len("/join?token="):]}}); status != http.StatusForbidden {
			t.Errorf("a join without the form's token: %d", status)
		}

		// A withdrawn invitation cannot be accepted.
		page = boss.open("/dashboard/members")
		for _, found := range forms.FindAllStringSubmatch(page, -1) {
			if strings.HasSuffix(found[1], "/withdraw") {
				boss.submit(page, found[1], unchanged)
			}
		}
		if status, _, text := newBrowser(t, p).send(link, nil); status != http.StatusNotFound || !strings.Contains(text, "link is not valid") {
			t.Errorf("a withdrawn link: %d %s", status, text)
		}
	})
}

// TestAccountsJoin checks that a person with an account can accept an invitation. A member
// of another organization signs in first. A person in no organization enters the password
// on the page of the invitation.
func TestAccountsJoin(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	boss := owner(t, p)
	ada := person(t, p, "ada", members.PlainMember)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.DB.Members().SetMember(t.Context(), members.Member{OrgID: p.Other.OrgID, UserID: ada.ID, Role: members.PlainMember}))
	must(p.DB.Members().RemoveMember(t.Context(), p.OrgID, ada.ID))
	link := boss.invites("ADA@example.com", "lists.view")
	hers := newBrowser(t, p)
	hers.wants(hers.open(link), "Sign in to join", "/login?next=")
	hers.signIn(ada.Email, personPassword)
	hers.submit(hers.open(link), "/join", unchanged)
	m, err := p.DB.Members().Member(t.Context(), p.OrgID, ada.ID)
	if err != nil || !slices.Equal(m.Permissions, []members.Permission{members.MayViewLists}) {
		t.Errorf("%+v, %v", m, err)
	}
	// ada's session is now in the organization that she joined
	hers.wants(hers.open("/dashboard/members"), p.UserEmail)

	bob := person(t, p, "bob", members.PlainMember)
	must(p.DB.Members().RemoveMember(t.Context(), p.OrgID, bob.ID))
	link = boss.invites(bob.Email)
	his := newBrowser(t, p)
	form := his.form(his.open(link), "/join")
	form.Set("password", "wrong password")
	if status, _, _ := his.send("/join", form); status != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", status)
	}
	form.Set("password", personPassword)
	if status, location, text := his.send("/join", form); status != http.StatusSeeOther {
		t.Errorf("joining: %d %s %s", status, location, text)
	}
	his.signIn(bob.Email, personPassword)
	his.wants(his.open("/dashboard/members"), p.UserEmail)
	// bob arrives at the sign-in page, because he is now in no organization
	his.submit(his.open("/dashboard/members"), "/dashboard/members/leave", unchanged)
	if _, err := p.DB.Members().Member(t.Context(), p.OrgID, bob.ID); err == nil {
		t.Error("who left is a member")
	}
}
