package rest_test

import (
	"crypto/x509"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
)

// TestContactFromBirthToArchive creates, changes, replaces and archives one contact by its
// address, on SQLite and on PostgreSQL.
func TestContactFromBirthToArchive(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const path = "/v1/contacts/grace%2Bhopper%40example.com"
		a.do(t, "GET", path, "").refused(404, core.CodeNotFound)
		a.do(t, "PATCH", path, `{}`).refused(404, core.CodeNotFound)

		c := a.do(t, "POST", "/v1/contacts", `{"email":"grace+hopper@example.com","attributes":{"first_name":"Grace","orders":3},
			"topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}],"lists":{"add":["newsletter"]}}`).want(201).contact()
		if c.Status != "active" || c.Attributes["orders"] != 3.0 || len(c.Lists) != 1 || len(c.TopicPreferences) != 1 {
			t.Errorf("created: %+v", c)
		}
		id := c.ID
		a.do(t, "POST", "/v1/contacts", `{"email":"GRACE+hopper@example.com"}`).refused(409, core.CodeConflict)

		c = a.do(t, "PATCH", path, `{"attributes":{"first_name":null,"city":"Arlington"},"topic_preferences":{"events":"OPT_IN"}}`,
			"Content-Type", "application/merge-patch+json").want(200).contact()
		if _, kept := c.Attributes["first_name"]; kept || c.Attributes["city"] != "Arlington" || c.Attributes["orders"] != 3.0 || len(c.TopicPreferences) != 2 {
			t.Errorf("patched: %+v", c)
		}

		c = a.do(t, "PUT", path, `{"attributes":{"city":"New York"},"lists":[]}`).want(200).contact()
		if len(c.Attributes) != 1 || len(c.TopicPreferences) != 0 || len(c.Lists) != 0 || c.ID != id {
			t.Errorf("replaced: %+v", c)
		}

		a.do(t, "DELETE", path, "").want(204)
		a.do(t, "DELETE", path, "").want(204)
		if c = a.do(t, "GET", path, "").want(200).contact(); c.Status != "archived" {
			t.Errorf("archived: %+v", c)
		}
		a.do(t, "PUT", "/v1/contacts/katherine%40example.com", `{}`).want(201)
		a.do(t, "DELETE", "/v1/contacts/nobody%40example.com", "").want(204)
	})
}

func TestReads(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	a.Clock.Freeze(a.Clock.Now()) // the response of the health check contains the time
	for target, cache := range map[string]string{
		"/v1/account":                           "max-age=60",
		"/v1/_scopes":                           "no-store",
		"/v1/contacts":                          "no-store",
		"/v1/contacts/" + a.Org.Contact:         "no-store",
		"/v1/lists":                             "no-store",
		"/v1/attributes":                        "no-store",
		"/v1/topics":                            "no-store",
		"/v1/_health":                           "no-store",
		"/v1/openapi.json":                      "public, max-age=300",
		"/openapi.json":                         "public, max-age=300",
		"/.well-known/oauth-protected-resource": "public, max-age=300",
	} {
		get := a.do(t, "GET", target, "").want(200)
		if got := get.header.Get("Cache-Control"); got != cache {
			t.Errorf("%s: Cache-Control = %q, want %q", target, got, cache)
		}
		head := a.do(t, "HEAD", target, "").want(200)
		if head.header.Get("Content-Length") != get.header.Get("Content-Length") || len(head.body) > 0 {
			t.Errorf("%s: HEAD %v with %d bytes, GET %v", target, head.header, len(head.body), get.header)
		}
		for _, method := range []string{"OPTIONS", "TRACE"} {
			if allow := a.do(t, method, target, "").want(405).header.Get("Allow"); !strings.Contains(allow, "GET") {
				t.Errorf("%s %s: Allow = %q", method, target, allow)
			}
		}
	}
}

// TestEveryCredentialKind checks that the API accepts API keys and access tokens of the
// live and of the test environment. It must refuse access tokens for the agent endpoint.
func TestEveryCredentialKind(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	a.as(a.Token(t, a.BaseURL)).do(t, "GET", "/v1/contacts", "").want(200)
	a.as(a.Test.APIKey).do(t, "GET", "/v1/contacts", "").want(200)
	metadata := `resource_metadata="` + a.BaseURL + `/.well-known/oauth-protected-resource"`
	for name, credential := range map[string]string{
		"none":        "",
		"agent token": a.Token(t, a.MCPURL),
		"unknown key": "sk_live_" + strings.Repeat("A", 52),
		"client":      a.Live.ClientSecret,
		"nonsense":    "x",
	} {
		refused := a.as(credential).do(t, "GET", "/v1/contacts", "")
		refused.refused(401, core.CodeInvalidKey)
		if got := refused.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, metadata) {
			t.Errorf("%s: WWW-Authenticate = %q", name, got)
		}
	}
}

// need is a call with the scope that it requires. status is the HTTP status for a caller
// with that scope.
type need struct {
	method, target, body string
	scope                core.Scope
	status               int
}

func needs(a *api) []need {
	return []need{
		{"GET", "/v1/account", "", core.AccountView, 200},
		{"GET", "/v1/contacts", "", core.ContactsView, 200},
		{"GET", "/v1/contacts/" + a.Org.Contact, "", core.ContactsView, 200},
		{"POST", "/v1/contacts", `{"email":"scopes@example.com"}`, core.ContactsManage, 201},
		{"PUT", "/v1/contacts/scopes%40example.com", `{}`, core.ContactsManage, 200},
		{"PATCH", "/v1/contacts/scopes%40example.com", `{}`, core.ContactsManage, 200},
		{"DELETE", "/v1/contacts/scopes%40example.com", "", core.ContactsManage, 204},
		{"PUT", "/v1/contacts/by-external-id/scopes", `{"email":"scopes2@example.com"}`, core.ContactsManage, 201},
		{"POST", "/v1/contacts/identify", `{"email":"scopes2@example.com"}`, core.ContactsManage, 200},
		{"DELETE", "/v1/contacts/by-external-id/scopes", "", core.ContactsManage, 204},
		{"GET", "/v1/lists", "", core.ListsView, 200},
		{"POST", "/v1/lists", `{"name":"Scopes"}`, core.ListsManage, 201},
		{"GET", "/v1/lists/scopes", "", core.ListsView, 200},
		{"PUT", "/v1/lists/scopes", `{}`, core.ListsManage, 200},
		{"GET", "/v1/lists/scopes/members", "", core.ListsView, 200},
		{"GET", "/v1/lists/scopes/members/scopes%40example.com", "", core.ListsView, 200},
		{"DELETE", "/v1/lists/scopes", "", core.ListsManage, 204},
		{"GET", "/v1/contact-list", "", core.TopicsView, 200},
		{"POST", "/v1/topics", `{"name":"scopes","default_subscription_status":"OPT_IN"}`, core.TopicsManage, 201},
		{"PUT", "/v1/topics/scopes", `{}`, core.TopicsManage, 200},
		{"DELETE", "/v1/topics/scopes", "", core.TopicsManage, 204},
		{"GET", "/v1/segments", "", core.SegmentsView, 200},
		{"POST", "/v1/segments/preview", `{"source":"attr.orders > 1"}`, core.SegmentsView, 200},
		{"GET", "/v1/segments/good-customers", "", core.SegmentsView, 200},
		{"GET", "/v1/segments/good-customers/members", "", core.SegmentsView, 200},
		{"GET", "/v1/segments/good-customers/members/nobody@example.com", "", core.SegmentsView, 200},
		{"GET", "/v1/attributes", "", core.AttributesView, 200},
		{"POST", "/v1/attributes", `{"name":"scope","type":"bool"}`, core.AttributesManage, 201},
		{"GET", "/v1/topics", "", core.TopicsView, 200},
		{"GET", "/v1/messages", "", core.MessagesView, 200},
		{"GET", "/v1/recipients/nobody@example.com/messages", "", core.MessagesUnmask, 200},
		{"GET", "/v1/reports/deliverability", "", core.ReportsView, 200},
		{"GET", "/v1/reports/engagement", "", core.ReportsView, 200},
		{"GET", "/v1/reports/template-performance", "", core.ReportsView, 200},
		{"GET", "/v1/activities", "", core.ActivitiesView, 200},
		{"POST", "/v1/activities", `[]`, core.ActivitiesWrite, 422},
		{"GET", "/v1/contacts/none/activities", "", core.ActivitiesView, 404},
		{"GET", "/v1/contacts/none/activities/summary", "", core.ActivitiesView, 404},
		{"GET", "/v1/activity-properties", "", core.ActivitiesView, 200},
		{"GET", "/v1/activity-properties/01900000-0000-7000-8000-000000000000", "", core.ActivitiesView, 404},
		{"POST", "/v1/activity-properties", `{"activity_name":"scope","property":"amount","type":"number"}`, core.ActivitiesManage, 201},
		{"PUT", "/v1/activity-properties/01900000-0000-7000-8000-000000000000", `{"activity_name":"scope","property":"amount","type":"number"}`, core.ActivitiesManage, 404},
		{"DELETE", "/v1/activity-properties/01900000-0000-7000-8000-000000000000", "", core.ActivitiesManage, 404},
		{"POST", "/v1/activity-properties/01900000-0000-7000-8000-000000000000/preview", `{"activity_name":"scope","property":"amount","type":"number"}`, core.ActivitiesManage, 404},
		{"POST", "/v1/contacts/bulk", `{"contacts":[{"email":"scope@example.com"}]}`, core.ContactsManage, 202},
		{"GET", "/v1/contacts/bulk/01900000-0000-7000-8000-000000000000", "", core.ContactsManage, 404},
		{"GET", "/v1/suppressions", "", core.SuppressionsView, 200},
		{"GET", "/v1/undeliverable", "", core.UndeliverableView, 200},
		{"GET", "/v1/undeliverable/rules", "", core.UndeliverableView, 200},
		{"GET", "/v1/channels", "", core.ChannelsView, 200},
		{"GET", "/v1/identities", "", core.IdentitiesView, 200},
		{"GET", "/v1/tracking-domains", "", core.TrackingView, 200},
		{"GET", "/v1/templates", "", core.TemplatesView, 200},
		{"POST", "/v1/inbound/domains", `{"domain":"in.unknown.example"}`, core.InboundManage, 422},
		{"POST", "/v1/broadcasts", `{"name":"Scopes","html":"<p>Hello</p>","subject":"Hello","audience_kind":"list","audience_id":"newsletter"}`, core.BroadcastsManage, 201},
	}
}

// callsAboutMissingObjects returns calls about objects that do not exist. A caller with the
// scope of the route gets 404.
func callsAboutMissingObjects() []need {
	return []need{
		{"GET", "/v1/messages/none", "", core.MessagesView, 404},
		{"GET", "/v1/attributes/none", "", core.AttributesView, 404},
		{"PUT", "/v1/attributes/none", `{"name":"scope","type":"bool"}`, core.AttributesManage, 404},
		{"DELETE", "/v1/attributes/none", "", core.AttributesManage, 404},
		{"POST", "/v1/attributes/none/preview", `{"name":"scope","type":"bool"}`, core.AttributesManage, 404},
		{"GET", "/v1/activity-properties/none", "", core.ActivitiesView, 404},
		{"PUT", "/v1/activity-properties/none", `{"activity_name":"scope","property":"amount","type":"number"}`, core.ActivitiesManage, 404},
		{"DELETE", "/v1/activity-properties/none", "", core.ActivitiesManage, 404},
		{"POST", "/v1/activity-properties/none/preview", `{"activity_name":"scope","property":"amount","type":"number"}`, core.ActivitiesManage, 404},
		{"GET", "/v1/contacts/bulk/none", "", core.ContactsManage, 404},
		{"GET", "/v1/lists/none", "", core.ListsView, 404},
		{"GET", "/v1/segments/none", "", core.SegmentsView, 404},
		{"GET", "/v1/messages/none/events", "", core.MessagesView, 404},
		{"GET", "/v1/suppressions/nobody@example.com", "", core.SuppressionsView, 404},
		{"GET", "/v1/channels/none", "", core.ChannelsView, 404},
		{"GET", "/v1/identities/none.example", "", core.IdentitiesView, 404},
		{"GET", "/v1/tracking-domains/none.example", "", core.TrackingView, 404},
		{"GET", "/v1/assets/none", "", core.AssetsView, 404},
		{"GET", "/v1/templates/none", "", core.TemplatesView, 404},
		{"GET", "/v1/workflows/none", "", core.WorkflowsView, 404},
		{"GET", "/v1/workflows/none/runs", "", core.WorkflowsView, 404},
		{"GET", "/v1/workflows/none/exits", "", core.WorkflowsView, 404},
		{"GET", "/v1/workflows/none/funnel", "", core.WorkflowsView, 404},
		{"GET", "/v1/workflows/none/runs/none/timeline", "", core.WorkflowsView, 404},
		{"POST", "/v1/workflows/none/dry-run", `{"contact_id":"none"}`, core.WorkflowsView, 404},
		{"GET", "/v1/broadcasts/none", "", core.BroadcastsView, 404},
		{"POST", "/v1/broadcasts/none/preview", `{}`, core.BroadcastsView, 404},
		{"POST", "/v1/broadcasts/none/test", `{"recipients":["scope@example.com"]}`, core.BroadcastsManage, 404},
		{"POST", "/v1/broadcasts/none/send", `{}`, core.BroadcastsManage, 404},
		{"GET", "/v1/broadcasts/none/results", "", core.BroadcastsView, 404},
		{"DELETE", "/v1/broadcasts/none", "", core.BroadcastsManage, 404},
		{"GET", "/v1/inbound/domains/none.example", "", core.InboundView, 404},
		{"DELETE", "/v1/inbound/domains/none.example", "", core.InboundManage, 404},
		{"POST", "/v1/inbound/domains/none.example/verify", "", core.InboundManage, 404},
		{"PUT", "/v1/inbound/domains/none.example/webhook", `{"webhook_url":"` + loopbackHook + `"}`, core.InboundManage, 404},
		{"DELETE", "/v1/inbound/domains/none.example/webhook", "", core.InboundManage, 404},
		{"POST", "/v1/inbound/domains/none.example/webhook/rotate-secret", "", core.InboundManage, 404},
		{"GET", "/v1/inbound/domains/none.example/addresses", "", core.InboundView, 404},
		{"POST", "/v1/inbound/domains/none.example/addresses", `{}`, core.InboundManage, 404},
		{"DELETE", "/v1/inbound/domains/none.example/addresses/support", "", core.InboundManage, 404},
		{"GET", "/v1/domain-auth/domains/none.example", "", core.DomainAuthView, 404},
		{"GET", "/v1/domain-auth/domains/none.example/sources", "", core.DomainAuthView, 404},
		{"PATCH", "/v1/domain-auth/domains/none.example/sources/none", `{"decision":"confirmed"}`, core.DomainAuthManage, 404},
		{"GET", "/v1/domain-auth/domains/none.example/readiness", "", core.DomainAuthView, 404},
		{"POST", "/v1/domain-auth/domains/none.example/readiness/acknowledge", `{"target_policy":"reject"}`, core.DomainAuthManage, 404},
		{"POST", "/v1/domain-auth/domains/none.example/remeasure", "", core.DomainAuthManage, 404},
		{"GET", "/v1/domain-auth/domains/none.example/timeseries", "", core.DomainAuthView, 404},
		{"GET", "/v1/domain-auth/domains/none.example/timeline", "", core.DomainAuthView, 404},
		{"GET", "/v1/domain-auth/domains/none.example/timeline/none/comparison", "", core.DomainAuthView, 404},
		{"POST", "/v1/domain-auth/domains/none.example/timeline/notes", `{"note":"x"}`, core.DomainAuthManage, 404},
		{"GET", "/v1/inbound/messages/none", "", core.InboundView, 404},
		{"GET", "/v1/inboxes/none", "", core.InboxesView, 404},
		{"PATCH", "/v1/inboxes/none", `{"label":"scope"}`, core.InboxesManage, 404},
		{"DELETE", "/v1/inboxes/none", "", core.InboxesManage, 404},
		{"GET", "/v1/inboxes/none/messages", "", core.InboxesView, 404},
		{"GET", "/v1/inboxes/none/pull-tokens", "", core.InboxesView, 404},
		{"POST", "/v1/inboxes/none/pull-tokens", `{}`, core.InboxesManage, 404},
		{"DELETE", "/v1/inboxes/none/pull-tokens/none", "", core.InboxesManage, 404},
		{"POST", "/v1/verified-senders/none/confirm", `{"code":"123456"}`, core.InboxesManage, 404},
		{"DELETE", "/v1/verified-senders/none", "", core.InboxesManage, 404},
	}
}

// ordinaryNeeds returns a call of each route that needs a scope and whose operation has no
// call in the functions needs and callsAboutMissingObjects. The scope comes from the
// operation's declaration, and the status from the route's.
func ordinaryNeeds(t *testing.T, a *api) []need {
	t.Helper()
	var all []need
	listed := map[string]bool{}
	for _, n := range append(needs(a), callsAboutMissingObjects()...) {
		if _, of, ok := a.description.find(a.request(t, n.method, n.target, n.body)); ok {
			listed[of.ID] = true
		}
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		for _, route := range rest.Routes() {
			if route.Operation != info.Name || listed[info.Name] || len(info.Scopes) == 0 {
				continue
			}
			c, err := ordinary.Route(op, route, ordinary.Values{"email": a.Org.Contact, "contact": a.Org.Contact})
			if err != nil {
				t.Errorf("add {%q, %q, body, scope, status} to needs in routes_test.go: %v", route.Method, route.Path, err)
				continue
			}
			all = append(all, need{c.Method, c.Path, c.Body, info.Scopes[0], route.Success})
		}
	}
	return all
}

// TestScopes checks for each route that needs a scope that a credential with only this
// scope may call it. A credential without scopes must be refused, and so must a credential
// with all scopes except the route's.
func TestScopes(t *testing.T) {
	t.Parallel()
	// Codes for verified senders need a mail server, and webhooks on this machine need CAs.
	a := start(t, product.Options{Mail: true, WebhookCAs: x509.NewCertPool()})
	nothing := a.as(a.mint(t))
	nothing.do(t, "GET", "/v1/_scopes", "").want(200)
	for _, n := range slices.Concat(needs(a), callsAboutMissingObjects(), ordinaryNeeds(t, a)) {
		others := make([]core.Scope, 0, len(core.AllScopes()))
		for _, s := range core.AllScopes() {
			if s != n.scope {
				others = append(others, s)
			}
		}
		for _, without := range []*api{nothing, a.as(a.mint(t, others...))} {
			refused := without.do(t, n.method, n.target, n.body)
			p := refused.refused(403, core.CodeInvalidScope)
			challenge := refused.header.Get("WWW-Authenticate")
			if p.Scope != n.scope || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, string(n.scope)) {
				t.Errorf("%s %s: scope %q, challenge %q", n.method, n.target, p.Scope, challenge)
			}
		}
		a.as(a.mint(t, n.scope)).do(t, n.method, n.target, n.body).want(n.status)
	}
}

// TestScopesAreAllTested checks that TestScopes calls every route of the OpenAPI document.
func TestScopesAreAllTested(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	// The export needs any scope of several, and the import those of its sections; see conformance/bundles.
	tested := map[string]bool{"bundles_export": true, "bundles_import": true, "credentials_get_scopes": true, "health_get": true, "openapi_get": true, "protected_resource_get": true}
	for _, n := range slices.Concat(needs(a), callsAboutMissingObjects(), ordinaryNeeds(t, a)) {
		r := a.request(t, n.method, n.target, n.body)
		if _, op, ok := a.description.find(r); ok {
			tested[op.ID] = true
		}
	}
	for path, item := range a.description.doc.Paths {
		for method, op := range item {
			if !tested[op.ID] {
				t.Errorf("%s %s: no test of its scope", strings.ToUpper(method), path)
			}
		}
	}
}

func TestCredentialTellsItsScopes(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	secret := a.mint(t, core.ListsView, core.AccountView)
	var described struct {
		Prefix, Environment string
		Scopes              []string
	}
	a.as(secret).do(t, "GET", "/v1/_scopes", "").want(200).decode(&described)
	if described.Prefix != secret[:16] || described.Environment != "live" || strings.Join(described.Scopes, " ") != "api.account.view api.lists.view" {
		t.Errorf("scopes = %+v", described)
	}
}

func TestTestCredentialsDestroyNothing(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	path := "/v1/contacts/" + a.Org.Contact
	for _, credential := range []string{a.Test.APIKey, a.TokenWith(t, a.Test, a.BaseURL)} {
		a.as(credential).do(t, "DELETE", path, "").refused(403, core.CodeTestEnvironmentForbidden)
		a.as(credential).do(t, "PATCH", path, `{"attributes":{"city":"Porto"}}`).want(200)
	}
	c := a.do(t, "GET", path, "").want(200).contact()
	if c.Status != "active" || c.Attributes["city"] != "Porto" {
		t.Errorf("contact = %+v", c)
	}
}

// TestOtherOrganizationsObjectsAreNotFound checks that a request for an object of another
// organization gets the same response as a request for an object that does not exist.
func TestOtherOrganizationsObjectsAreNotFound(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		theirs := a.as(a.Other.Live.APIKey)
		theirs.do(t, "GET", "/v1/contacts/"+a.Other.Contact, "").want(200)
		foreign := a.do(t, "GET", "/v1/contacts/"+a.Other.Contact, "", "X-Request-Id", "same")
		nobody := a.do(t, "GET", "/v1/contacts/nobody@example.com", "", "X-Request-Id", "same")
		foreign.refused(404, core.CodeNotFound)
		if !same(t, foreign.body, nobody.body) {
			t.Errorf("foreign: %s\nnobody: %s", foreign.body, nobody.body)
		}
		a.do(t, "PATCH", "/v1/contacts/"+a.Other.Contact, `{}`).refused(404, core.CodeNotFound)
		a.do(t, "DELETE", "/v1/contacts/"+a.Other.Contact, "").want(204)
		c := theirs.do(t, "GET", "/v1/contacts/"+a.Other.Contact, "").want(200).contact()
		if c.Status != "active" {
			t.Errorf("one organization archived another's contact: %+v", c)
		}
		page := theirs.do(t, "GET", "/v1/contacts", "").want(200).page()
		if len(page.Data) != 1 {
			t.Errorf("the other organization sees %d contacts, has 1", len(page.Data))
		}
		// A cursor that one organization got returns only rows of the organization that
		// uses it.
		page = a.do(t, "GET", "/v1/contacts?limit=1", "").want(200).page()
		page = theirs.do(t, "GET", "/v1/contacts?cursor="+*page.Pagination.NextCursor, "").want(200).page()
		for _, c := range page.Data {
			if c.Email != a.Other.Contact {
				t.Errorf("a borrowed cursor shows %s", c.ID)
			}
		}
	})
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	for _, path := range []string{"/", "/v1", "/v1/", "/v2/contacts", "/v1/contacts/", "/v1/contacts/a/b", "/v1//contacts", "/v1/../v1/contacts"} {
		r := a.request(t, "GET", "/", "")
		// the path is sent unchanged, not cleaned by the client
		r.URL.Opaque = strings.TrimPrefix(a.BaseURL, "http:") + path
		a.send(t, r).refused(404, core.CodeNotFound)
	}
	if got := a.do(t, http.MethodPost, "/v1/account", `{}`).want(405).header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow = %q", got)
	}
}
