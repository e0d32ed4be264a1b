package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// line has the members of an audit event that the tests compare.
type line struct{ Action, Actor, Subject, Detail string }

// linesSince returns the organization's audit events after the first n, oldest first. It
// leaves out actions that begin with "user.", such as sign-in.
func linesSince(t *testing.T, p *product.Product, n int) []line {
	t.Helper()
	events, err := p.DB.Audit().FindAudit(t.Context(), p.OrgID, access.AuditFilter{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for i := len(events) - 1 - n; i >= 0; i-- {
		if e := events[i]; !strings.HasPrefix(e.Action, "user.") {
			lines = append(lines, line{e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail})
		}
	}
	return lines
}

func lineCount(t *testing.T, p *product.Product) int {
	t.Helper()
	n := 0
	for _, times := range audited(t, p) {
		n += times
	}
	return n
}

// refused checks that the public API refuses a bearer credential with status 401 and the
// given error code. The WWW-Authenticate header must contain the URL of the API's
// protected-resource metadata (RFC 9728).
func refused(t *testing.T, p *product.Product, bearer, code string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/v1/lists", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var problem struct{ Code string }
	if err := json.NewDecoder(answer.Body).Decode(&problem); err != nil || answer.StatusCode != http.StatusUnauthorized || problem.Code != code {
		t.Errorf("%d %q, want 401 %s: %v", answer.StatusCode, problem.Code, code, err)
	}
	if challenge := answer.Header.Get("WWW-Authenticate"); !strings.Contains(challenge, p.BaseURL+"/.well-known/oauth-protected-resource") {
		t.Errorf("challenge %q", challenge)
	}
}

func idOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// TestKeysLinesAndEnds changes API keys on the dashboard. It checks that each change is in
// the audit log with actor and details. It also checks that the API refuses a revoked, an
// expired and an unknown key with different codes.
func TestKeysLinesAndEnds(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		p.Clock.Freeze(p.Clock.Now())
		boss := owner(t, p)
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		before := lineCount(t, p)
		old, oldSecret := boss.newKey("Importer", "api.lists.view", "api.tags.view")
		boss.submit(boss.open(old+"/scopes"), old+"/scopes", func(form url.Values) {
			form["scope"] = []string{"api.lists.view", "api.topics.view"}
			form.Set("apply", "yes")
		})
		rotated := boss.submit(boss.open(old+"/rotate"), old+"/rotate", unchanged)
		next, nextSecret := boss.mustFind(rotated, keyLink), boss.mustFind(rotated, shownKey)
		end, err := json.Marshal(p.Clock.Now().UTC().Truncate(time.Microsecond).Add(24 * time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		boss.submit(boss.open(next+"/revoke"), next+"/revoke", unchanged)
		refused(t, p, nextSecret, "key_revoked")
		p.Clock.Advance(24*time.Hour - time.Second)
		calls(t, p, "/v1/lists", oldSecret, http.StatusOK)
		p.Clock.Advance(time.Second)
		refused(t, p, oldSecret, "key_expired")
		if _, err := job(p).ExpireGrace(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused(t, p, oldSecret, "key_expired")
		refused(t, p, access.MintAPIKey(core.Live).Secret, "invalid_key")
		refused(t, p, oldSecret[:len(oldSecret)-1], "invalid_key")

		by := "user " + user.ID
		want := []line{
			{"api_key.created", by, idOf(old), `{"environment":"live","scopes":["api.lists.view","api.tags.view"]}`},
			{"api_key.scopes_updated", by, idOf(old), `{"added":["api.topics.view"],"removed":["api.tags.view"]}`},
			{"api_key.rotated", by, idOf(old), `{"replaced_by":"` + idOf(next) + `","expires_at":` + string(end) + `}`},
			{"api_key.rotated", by, idOf(next), `{"replaces":"` + idOf(old) + `"}`},
			{"api_key.revoked", by, idOf(next), `{}`},
			{"api_key.grace_expired", "system mailhelm", idOf(old), `{}`},
		}
		if diff := cmp.Diff(want, linesSince(t, p, before)); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

// job returns an access.Lifecycle on the product's stores, so that a test can run the
// cleanup that the product runs every minute.
func job(p *product.Product) access.Lifecycle {
	return access.Lifecycle{
		Stores: p.DB.Access(), Orgs: p.DB.Orgs(), Transactor: p.DB, Clock: p.Clock.Now,
	}
}

// TestLinesOfTheOtherPages changes OAuth clients, members and organization settings on the
// dashboard. It checks that each change is in the audit log with actor and details.
func TestLinesOfTheOtherPages(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, ada := owner(t, p), person(t, p, "ada", members.PlainMember, members.MayViewLists)
		user, err := p.DB.Users().UserByEmail(t.Context(), p.UserEmail)
		if err != nil {
			t.Fatal(err)
		}
		before := lineCount(t, p)
		client, _ := boss.newClient("Reporter", nil, "api.lists.view")
		boss.submit(boss.open(client+"/edit"), client+"/edit", func(form url.Values) { form["scope"] = []string{"api.topics.view"} })
		boss.submit(boss.open(client+"/secret"), client+"/secret", unchanged)
		boss.submit(boss.open(client+"/revoke"), client+"/revoke", unchanged)
		member := "/dashboard/members/" + ada.ID
		boss.submit(boss.open(member), member+"/permissions", func(form url.Values) { form["permission"] = []string{"contacts.view"} })
		boss.submit(boss.open(member), member+"/role", func(form url.Values) { form.Set("role", "owner") })
		boss.submit(boss.open(member), member+"/remove", unchanged)
		boss.submit(boss.open("/dashboard/settings"), "/dashboard/settings", func(form url.Values) { form.Set("platform_mode", "on") })

		by, id := "user "+user.ID, idOf(client)
		want := []line{
			{"oauth_client.created", by, id, `{"environment":"live","scopes":["api.lists.view"]}`},
			{"oauth_client.updated", by, id, `{"added":["api.topics.view"],"removed":["api.lists.view"]}`},
			{"oauth_client.secret_rotated", by, id, `{}`},
			{"oauth_client.revoked", by, id, `{}`},
			{"member.permissions_updated", by, ada.ID, `{"added":["contacts.view"],"removed":["lists.view"]}`},
			{"member.role_updated", by, ada.ID, `{"before":"member","after":"owner"}`},
			{"member.removed", by, ada.ID, `{"role":"owner","left":false,"grants_revoked":0,"invitations_withdrawn":0}`},
			{"org.settings_updated", by, p.OrgID, `{"platform_mode":{"before":false,"after":true}}`},
		}
		if diff := cmp.Diff(want, linesSince(t, p, before)); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}
