package login_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/oauth/login"
)

// TestPersonDeletesOwnAccount checks the page on which a person deletes the account: it needs
// a recent sign-in, the typed address, and another owner of each organization.
func TestPersonDeletesOwnAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "https://app.test")
	p := h.newPerson()
	if body := p.get(login.SecurityPath).body; !strings.Contains(body, `href="`+login.DeletePath+`"`) {
		t.Error("the security page does not link to the deletion")
	}
	page := p.get(login.DeletePath)
	if !strings.Contains(page.body, "last owner") || !strings.Contains(page.body, "Zeta") || strings.Contains(page.body, "<form method=\"post\" action=\"/account/delete\"") {
		t.Errorf("for the last owner: %s", page.body)
	}
	other := access.User{ID: core.NewID(), Email: "eve@example.org", Name: "Eve", PasswordHash: passwordHash, CreatedAt: h.now}
	h.must(h.db.Users().InsertUser(t.Context(), other))
	for _, org := range h.orgs {
		h.must(h.db.Members().AddMember(t.Context(), org.ID, other.ID, string(members.Owner)))
	}
	page = p.get(login.DeletePath)
	token := p.token(page.body)
	p.expect("another address", p.post(login.DeletePath, "token", token, "email", "eve@example.org"), http.StatusUnprocessableEntity, "")
	p.expect("another token", p.post(login.DeletePath, "token", "x", "email", email), http.StatusForbidden, "")

	h.now = h.now.Add(11 * time.Minute)
	confirm := login.ConfirmPath + "?" + url.Values{"next": {login.DeletePath}}.Encode()
	p.expect("long after signing in", p.post(login.DeletePath, "token", token, "email", email), http.StatusSeeOther, confirm)
	if _, err := h.db.Users().UserByID(t.Context(), h.user.ID); err != nil {
		t.Fatalf("deleted by a refused form: %v", err)
	}
	p.expect("the password again", p.post("/login", "email", email, "password", password, "next", login.DeletePath), http.StatusSeeOther, login.DeletePath)

	done := p.post(login.DeletePath, "token", p.token(p.get(login.DeletePath).body), "email", strings.ToUpper(email))
	if done.StatusCode != http.StatusOK || !strings.Contains(done.body, "Account deleted") {
		t.Errorf("status %d: %s", done.StatusCode, done.body)
	}
	if _, err := h.db.Users().UserByID(t.Context(), h.user.ID); !core.IsNotFound(err) {
		t.Errorf("the person: %v", err)
	}
	p.expect("afterwards", p.post("/login", "email", email, "password", password), http.StatusUnauthorized, "")
}
