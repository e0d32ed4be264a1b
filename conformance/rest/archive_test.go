package rest_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// TestReplaceAndMerge checks two ways to change a contact. PUT removes the attributes and
// topic choices that the request leaves out, but keeps the opt-out and the lists. PATCH
// changes only the members that are in the request.
func TestReplaceAndMerge(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const path = "/v1/contacts/wipe%40example.com"
		a.do(t, "POST", "/v1/contacts", `{"email":"wipe@example.com","attributes":{"city":"Graz","orders":1},"unsubscribe_all":true,
			"topic_preferences":{"offers":"OPT_IN"},"lists":{"add":["newsletter"]}}`).want(201)
		for _, step := range []struct {
			method, body        string
			attributes, choices int
			unsubscribed        bool
		}{
			{"PATCH", `{"attributes":{"city":null},"unsubscribe_all":null}`, 1, 1, true},
			{"PATCH", `{"attributes":null,"topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`, 1, 2, true},
			{"PUT", `{"attributes":{"city":"Linz"}}`, 1, 0, true},
			{"PUT", `{"topic_preferences":{"events":"OPT_OUT"},"unsubscribe_all":null}`, 0, 1, true},
			{"PUT", `{"unsubscribe_all":false}`, 0, 0, false},
		} {
			c := a.do(t, step.method, path, step.body).want(200).contact()
			if len(c.Attributes) != step.attributes || len(c.TopicPreferences) != step.choices || c.UnsubscribeAll != step.unsubscribed || len(c.Lists) != 1 {
				t.Errorf("%s %s: %+v", step.method, step.body, c)
			}
		}
	})
}

// TestArchivedContact checks that an archived contact can be read by its address, but is
// missing in the response of GET /v1/contacts. PATCH must be refused. POST and PUT must
// make the contact active again, with the same id.
func TestArchivedContact(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		path := "/v1/contacts/" + a.Contact
		before := a.do(t, "GET", path, "").want(200).contact()
		listed := func() bool { return slices.Contains(emails(t, a, "/v1/contacts?limit=200"), a.Contact) }
		if !listed() {
			t.Fatal("the contact is not listed to begin with")
		}
		for _, back := range []struct {
			method, target, body string
			status               int
		}{
			{"POST", "/v1/contacts", `{"email":"` + a.Contact + `","lists":{"add":["newsletter"]}}`, 201},
			{"PUT", path, `{}`, 200},
		} {
			if got := a.do(t, "DELETE", path, "").want(204); len(got.body) != 0 {
				t.Errorf("DELETE: %s", got.body)
			}
			gone := a.do(t, "GET", path, "").want(200).contact()
			if gone.Status != "archived" || gone.ID != before.ID || len(gone.Lists) != 0 || listed() {
				t.Errorf("archived: %+v, listed %v", gone, listed())
			}
			a.do(t, "PATCH", path, `{"attributes":{"city":"Graz"}}`).refused(409, core.CodeConflict)
			again := a.do(t, back.method, back.target, back.body).want(back.status).contact()
			if again.Status != "active" || again.ID != before.ID || !listed() {
				t.Errorf("%s: %+v, listed %v", back.method, again, listed())
			}
		}
	})
}

// TestReplayKeepsTheStatus repeats a call with the same idempotency key. The answer must be
// the first answer with its status, such as 201, for every credential of the organization.
func TestReplayKeepsTheStatus(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const path = "/v1/contacts/status%40example.com"
		put := func(a *api) *answer { return a.do(t, "PUT", path, `{}`, "Idempotency-Key", "k") }
		first := put(a).want(201)
		token := a.as(a.Token(t, a.BaseURL))
		for name, caller := range map[string]*api{"key": a, "token": token, "test key": a.as(a.Test.APIKey)} {
			again := put(caller).want(201)
			if again.header.Get("Idempotent-Replayed") != "true" || !same(t, first.body, again.body) {
				t.Errorf("%s: %v %s", name, again.header, again.body)
			}
		}
		a.do(t, "PUT", "/v1/contacts/another%40example.com", `{}`, "Idempotency-Key", "k").refused(409, core.CodeConflict)
		a.do(t, "PUT", path, `{}`).want(200)
	})
}
