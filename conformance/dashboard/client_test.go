package dashboard_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
)

// browser sends one person's requests to a running product, like a browser with cookies and
// without scripts.
type browser struct {
	t    *testing.T
	p    *product.Product
	http *http.Client
}

func newBrowser(t *testing.T, p *product.Product) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := *p.HTTP
	client.Jar = jar
	return &browser{t: t, p: p, http: &client}
}

// owner returns a browser in which the owner of the product's organization is signed in.
func owner(t *testing.T, p *product.Product) *browser {
	t.Helper()
	b := newBrowser(t, p)
	b.signIn(p.UserEmail, p.UserPassword)
	return b
}

func (b *browser) signIn(email, password string) {
	b.t.Helper()
	status, _, text := b.send("/login", url.Values{"email": {email}, "password": {password}})
	if status != http.StatusSeeOther {
		b.t.Fatalf("sign in of %s: %d %s", email, status, text)
	}
}

// send requests a path without following redirects. If form is not nil, it posts the form.
// The returned location has no host if it is an address of the app.
func (b *browser) send(path string, form url.Values) (status int, location, text string) {
	b.t.Helper()
	method, content := http.MethodGet, ""
	if form != nil {
		method, content = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.p.AppURL+path, strings.NewReader(content))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.p.AppURL)
	}
	answer, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimPrefix(answer.Header.Get("Location"), b.p.AppURL), string(page)
}

// open returns the page at a path, after at most three redirects. It fails the test for any
// status but 200 and 303.
func (b *browser) open(path string) string {
	b.t.Helper()
	for range 4 {
		status, location, text := b.send(path, nil)
		switch status {
		case http.StatusOK:
			return text
		case http.StatusSeeOther:
			path = location
		default:
			b.t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	b.t.Fatalf("%s: too many redirects", path)
	return ""
}

// submit posts the form of the page whose action attribute is action. The function change
// edits the values of the form first. submit follows a redirect and returns the resulting
// page. It fails the test for any other status than 200 and 303.
func (b *browser) submit(page, action string, change func(url.Values)) string {
	b.t.Helper()
	form := b.form(page, action)
	change(form)
	status, location, text := b.send(action, form)
	switch status {
	case http.StatusOK:
		return text
	case http.StatusSeeOther:
		return b.open(location)
	}
	b.t.Fatalf("form to %s: %d %s", action, status, text)
	return ""
}

func unchanged(url.Values) {}

// wants fails the test unless the page contains all the texts.
func (b *browser) wants(page string, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.t.Errorf("the page does not show %q: %s", text, page)
		}
	}
}

// person adds a user to the product's organization. The user has this role and these
// permissions, and can sign in with the password personPassword.
func person(t *testing.T, p *product.Product, name string, role members.Role, may ...members.Permission) access.User {
	t.Helper()
	hash := passwordstest.Hash(personPassword)
	u := access.User{ID: core.NewID(), Email: name + "@example.com", Name: name, PasswordHash: hash, CreatedAt: p.Clock.Now()}
	if err := p.DB.Users().InsertUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if err := p.DB.Members().SetMember(t.Context(), members.Member{OrgID: p.OrgID, UserID: u.ID, Role: role, Permissions: may}); err != nil {
		t.Fatal(err)
	}
	return u
}

const personPassword = "correct horse battery"
