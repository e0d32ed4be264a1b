package rest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestAudienceDataOfOrganizationsIsIsolated checks that an organization can neither find
// nor change the contacts, lists and topics of another organization, by REST routes or
// MCP tools. Both organizations may use the same names.
func TestAudienceDataOfOrganizationsIsIsolated(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		ours := on(t, p)
		theirs, agent := ours.as(p.Other.Live.APIKey), p.Token(t, p.MCPURL)
		const byExternalID = "/v1/contacts/by-external-id/shared"
		var list struct{ ID string }
		theirs.do(t, "POST", "/v1/lists", `{"name":"Theirs"}`).want(201).decode(&list)
		theirs.do(t, "POST", "/v1/topics", `{"name":"theirs","default_subscription_status":"OPT_IN"}`).want(201)
		their := theirs.do(t, "PUT", byExternalID, `{"email":"theirs@example.com","lists":["theirs"]}`).want(201).contact()
		var visitor, mine struct {
			Contact string `json:"contact_id"`
			Visitor string `json:"visitor_id"`
		}
		theirs.do(t, "POST", "/v1/contacts/identify", `{"external_id":"shared"}`).want(200).decode(&visitor)

		for _, ref := range []string{list.ID, "theirs"} {
			ours.do(t, "GET", "/v1/lists/"+ref, "").refused(404, core.CodeNotFound)
			ours.do(t, "PUT", "/v1/lists/"+ref, `{"name":"Ours"}`).refused(404, core.CodeNotFound)
			ours.do(t, "DELETE", "/v1/lists/"+ref, "").refused(404, core.CodeNotFound)
			ours.do(t, "GET", "/v1/lists/"+ref+"/members", "").refused(404, core.CodeNotFound)
			ours.do(t, "GET", "/v1/lists/"+ref+"/members/"+their.ID, "").refused(404, core.CodeNotFound)
			ours.do(t, "PUT", "/v1/contacts/by-external-id/ours", `{"email":"ours@example.com","lists":["`+ref+`"]}`).refused(422, core.CodeValidationFailed)
		}
		ours.do(t, "GET", "/v1/contacts/theirs@example.com", "").refused(404, core.CodeNotFound)
		ours.do(t, "PATCH", "/v1/contacts/theirs@example.com", `{"unsubscribe_all":true}`).refused(404, core.CodeNotFound)
		ours.do(t, "DELETE", "/v1/contacts/theirs@example.com", "").want(204)
		ours.do(t, "PUT", "/v1/topics/theirs", `{"display_name":"Ours"}`).refused(404, core.CodeNotFound)
		ours.do(t, "DELETE", "/v1/topics/theirs", "").refused(404, core.CodeNotFound)
		ours.do(t, "DELETE", byExternalID, "").want(204)
		ours.do(t, "POST", "/v1/contacts/identify", `{"external_id":"shared"}`).refused(422, core.CodeUnknownExternalID)
		for tool, arguments := range map[string]string{
			"contacts_lookup":              `{"external_id":"shared"}`,
			"contacts_set_list_membership": `{"contact":"` + their.ID + `","add":["newsletter"]}`,
		} {
			var refusal struct{ Code core.Code }
			ours.callTool(t, agent, tool, arguments).decode(&refusal)
			if refusal.Code != core.CodeNotFound {
				t.Errorf("%s of another organization: %s", tool, refusal.Code)
			}
		}
		if c := theirs.do(t, "GET", "/v1/contacts/theirs@example.com", "").want(200).contact(); c.Status != "active" || len(c.Lists) != 1 {
			t.Errorf("theirs became %+v", c)
		}

		// The first organization may use the names of the second organization for objects of
		// its own.
		ours.do(t, "POST", "/v1/lists", `{"name":"Theirs"}`).want(201)
		if c := ours.do(t, "PUT", byExternalID, `{"email":"theirs@example.com"}`).want(201).contact(); c.ID == their.ID {
			t.Error("two organizations share a contact")
		}
		ours.do(t, "POST", "/v1/contacts/identify", `{"external_id":"shared"}`).want(200).decode(&mine)
		if mine.Visitor == visitor.Visitor || mine.Contact == visitor.Contact {
			t.Errorf("visitors %v and %v", mine, visitor)
		}
	})
}

// TestARepeatedIdentifyShowsTheSameVisitor checks that the answer that is stored for
// replays does not contain the visitor's id. The database must have the id only encrypted.
// A repeated identify call must still return the id, until the contact is archived.
func TestARepeatedIdentifyShowsTheSameVisitor(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const body = `{"email":"visitor@example.com"}`
		identify := func() *answer {
			return a.do(t, "POST", "/v1/contacts/identify", body, "Idempotency-Key", "visit-1")
		}
		first, again := identify().want(200), identify().want(200)
		if !same(t, first.body, again.body) || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("first %s, again %s %v", first.body, again.body, again.header)
		}
		record, _, err := p.DB.Replay().Reserve(t.Context(), replay.Key{OrgID: p.OrgID, Space: "rest:contacts_identify", Key: "visit-1"}, replay.Claim{}, a.Clock.Now())
		if err != nil || !record.Done || strings.Contains(string(record.Result), "vis_") {
			t.Errorf("remembered is %s, %v", record.Result, err)
		}
		agent := p.Token(t, p.MCPURL)
		const issue = `{"email":"agent@example.com","issue_visitor_id":true}`
		one, two := a.callTool(t, agent, "contacts_upsert", issue), a.callTool(t, agent, "contacts_upsert", issue)
		unmarked := bytes.Replace(two.body, []byte(`"replayed":true,`), nil, 1)
		if len(unmarked) == len(two.body) || !same(t, one.body, unmarked) || !strings.Contains(string(two.body), `"vis_`) {
			t.Errorf("first %s, again %s", one.body, two.body)
		}
		a.do(t, "DELETE", "/v1/contacts/visitor@example.com", "").want(204)
		identify().refused(409, core.CodeConflict)
	})
}

// anotherOrg creates an organization without data and without a sending account. It returns
// a caller with a live key of that organization.
func (a *api) anotherOrg(t *testing.T, gitConnected bool) (*api, core.Org) {
	t.Helper()
	id := core.NewID()
	org := core.Org{ID: id, Name: "Another", Slug: "another-" + id[24:], Tier: "team", RetentionDays: 90, GitConnected: gitConnected}
	if err := a.DB.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	minted := access.MintAPIKey(core.Live)
	if err := a.DB.Keys().InsertAPIKey(t.Context(), access.APIKey{
		ID: core.NewID(), OrgID: org.ID, Environment: core.Live, Prefix: minted.Prefix, SecretHash: minted.Hash,
		Scopes: core.AllScopes(), CreatedAt: a.Clock.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	return a.as(minted.Secret), org
}

// TestBeforeTheFirstSync checks reads before Mailhelm has copied the contact list from the
// sending account. The contact list is not found, and all other reads are empty.
func TestBeforeTheFirstSync(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		fresh, _ := on(t, p).anotherOrg(t, false)
		fresh.do(t, "GET", "/v1/contact-list", "").refused(404, core.CodeContactListNotSynced)
		for _, path := range []string{"/v1/topics", "/v1/contacts", "/v1/lists"} {
			var empty struct{ Data []any }
			if fresh.do(t, "GET", path, "").want(200).decode(&empty); empty.Data == nil || len(empty.Data) != 0 {
				t.Errorf("%s: %v", path, empty.Data)
			}
		}
	})
}

// TestFirstWriteMakesTheContactList writes a first contact or topic by REST routes and MCP
// tools. The write must create the contact list at the sending account. If no account is
// connected and the simulated one is missing, the refusal must name the command that connects one.
// On PostgreSQL the server creates the simulated account.
func TestFirstWriteMakesTheContactList(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const ada, body = "ada@example.com", `{"email":"ada@example.com"}`
		for name, write := range map[string]func(t *testing.T, c *newcomer){
			"POST":           func(t *testing.T, c *newcomer) { c.do(t, "POST", people, body).want(201) },
			"PUT":            func(t *testing.T, c *newcomer) { c.do(t, "PUT", people+"/"+ada, `{}`).want(201) },
			"by external id": func(t *testing.T, c *newcomer) { c.do(t, "PUT", byID+"one", body).want(201) },
			"identify":       func(t *testing.T, c *newcomer) { c.do(t, "POST", people+"/identify", body).want(200) },
			"tool":           func(t *testing.T, c *newcomer) { c.callTool(t, c.agent(t), "contacts_upsert", body).want(200) },
			"bulk":           func(t *testing.T, c *newcomer) { c.follow(t, c.postBulk(t, `{"contacts":[`+body+`]}`), 1) },
			"stub": func(t *testing.T, c *newcomer) {
				c.do(t, "POST", "/v1/activities", `{"name":"seen","email":"`+ada+`"}`).want(202)
				c.do(t, "PATCH", people+"/"+ada, `{"unsubscribe_all":false}`).want(200)
			},
			"topic": func(t *testing.T, c *newcomer) {
				c.do(t, "PUT", "/v1/topics/news", `{"display_name":"News"}`).refused(404, core.CodeNotFound)
				c.do(t, "DELETE", "/v1/topics/news", "").refused(404, core.CodeNotFound)
				c.do(t, "POST", "/v1/topics", `{"name":"news","default_subscription_status":"OPT_IN"}`).want(201)
			},
		} {
			c := a.newcomer(t)
			if p.DB.Dialect() == engine.SQLite {
				refusal := c.do(t, "POST", people, `{"email":"nobody@example.com"}`).refused(409, core.CodeConflict)
				if !strings.Contains(refusal.NextStep, "mailhelm admin account connect") {
					t.Errorf("%s: without an account: %+v", name, refusal)
				}
			}
			if err := a.Simulator.Seed(t.Context(), c.org, simulator.Setup{}); err != nil { // changes nothing on PostgreSQL
				t.Fatal(err)
			}
			write(t, c)
			if _, err := pusher(p).Push(t.Context(), c.org); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Simulator.ContactList(t.Context(), c.org); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := a.Simulator.Contact(t.Context(), c.org, ada); err != nil && name != "topic" {
				t.Errorf("%s: the account does not hold the contact: %v", name, err)
			}
		}
	})
}

// newcomer is a caller of a new organization, without contacts or a contact list.
type newcomer struct {
	*api
	org string
}

func (a *api) newcomer(t *testing.T) *newcomer {
	t.Helper()
	c, org := a.anotherOrg(t, false)
	return &newcomer{c, org.ID}
}

// agent returns an access token of the new organization for the agent endpoint.
func (c *newcomer) agent(t *testing.T) string {
	t.Helper()
	office := provision.Provisioner{Stores: c.DB.Access(), Orgs: c.DB.Orgs(), Users: c.DB.Users(), Members: c.DB.Members(), Tx: c.DB, Clock: c.Clock.Now}
	client, secret, err := office.CreateClient(t.Context(), provision.Grant{
		OrgID: c.org, Name: "Agent", Environment: core.Live, Scopes: core.AllScopes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.TokenWith(t, product.Credentials{ClientID: client.ClientID, ClientSecret: secret}, c.MCPURL)
}

// TestARepositoryOwnsTheDefinitionsOfAnAudience checks that an organization with a
// connected Git repository cannot change topics or lists over the API. It can change
// contacts, because a repository does not define contacts.
func TestARepositoryOwnsTheDefinitionsOfAnAudience(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		connected, org := a.anotherOrg(t, true)
		if err := a.Simulator.Seed(t.Context(), org.ID, simulator.Setup{List: &sending.ContactList{Name: "main"}}); err != nil {
			t.Fatal(err)
		}
		for _, write := range [][3]string{
			{"POST", "/v1/topics", `{"name":"news","default_subscription_status":"OPT_IN"}`},
			{"PUT", "/v1/topics/news", `{}`},
			{"DELETE", "/v1/topics/news", ""},
			{"POST", "/v1/lists", `{"name":"News"}`},
			{"PUT", "/v1/lists/news", `{}`},
			{"DELETE", "/v1/lists/news", ""},
		} {
			connected.do(t, write[0], write[1], write[2]).refused(409, core.CodeConflict)
		}
		connected.do(t, "POST", "/v1/contacts", `{"email":"ada@example.com"}`).want(201)
	})
}

// harmlessDeletes has the operations of DELETE routes that test credentials may call. A new
// pull link replaces a revoked one. A caller deletes only its own verified senders, and can
// verify them again.
var harmlessDeletes = []string{"inbox_pull_tokens_revoke", "verified_senders_delete"}

// TestTestCredentialsDestroyNoDefinitions checks that test credentials may create and
// change lists, topics and attributes. Every DELETE route except the harmless ones must
// refuse test credentials.
func TestTestCredentialsDestroyNoDefinitions(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		test := a.as(a.Test.APIKey)
		test.do(t, "POST", "/v1/lists", `{"name":"Kept"}`).want(201)
		test.do(t, "POST", "/v1/topics", `{"name":"kept","default_subscription_status":"OPT_IN"}`).want(201)
		attribute := "/v1/attributes/" + a.attributeID(t, "orders")
		paths := map[string]string{"/v1/lists/{id}": "/v1/lists/kept", "/v1/topics/{name}": "/v1/topics/kept", "/v1/attributes/{id}": attribute}
		for _, route := range rest.Routes() {
			if route.Method != "DELETE" || slices.Contains(harmlessDeletes, route.Operation) {
				continue
			}
			path := paths[route.Path]
			if path == "" {
				// the call is refused before the object is looked up, so the path need not name
				// an existing object
				path = strings.NewReplacer("{", "", "}", "").Replace(route.Path)
			}
			for _, credential := range []string{a.Test.APIKey, a.TokenWith(t, a.Test, a.BaseURL)} {
				a.as(credential).do(t, "DELETE", path, "").refused(403, core.CodeTestEnvironmentForbidden)
			}
		}
		for _, path := range paths {
			if !strings.Contains(path, "topics") { // a single topic has no GET route
				a.do(t, "GET", path, "").want(200)
			}
		}
		test.do(t, "PUT", attribute, `{"name":"orders","type":"number","description":"Changed"}`).want(200)
	})
}

// TestOutageOfTheSendingAccount makes the sending account unavailable. It checks that
// calls that need the account fail with a time to retry, and that reads from Mailhelm's
// database succeed.
func TestOutageOfTheSendingAccount(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		a.do(t, "PUT", "/v1/contacts/by-external-id/here", `{"email":"here@example.com"}`).want(201)
		for _, down := range []struct {
			kind   sending.FailureKind
			status int
		}{{sending.Refused, 503}, {sending.Throttled, 503}, {sending.TimedOut, 504}} {
			a.Simulator.Faults().Set(simulator.Fault{Kind: down.kind})
			for _, call := range [][3]string{
				{"GET", "/v1/contacts/here@example.com", ""},
				{"POST", "/v1/contacts", `{"email":"new@example.com"}`},
				{"PUT", "/v1/contacts/here@example.com", `{}`},
				{"PATCH", "/v1/contacts/here@example.com", `{}`},
				{"DELETE", "/v1/contacts/here@example.com", ""},
				{"PUT", "/v1/contacts/by-external-id/here", `{}`},
				{"PUT", "/v1/contacts/by-external-id/new", `{"email":"new@example.com"}`},
				{"DELETE", "/v1/contacts/by-external-id/here", ""},
				{"POST", "/v1/contacts/identify", `{"email":"new@example.com"}`},
				{"POST", "/v1/topics", `{"name":"new","default_subscription_status":"OPT_IN"}`},
				{"PUT", "/v1/topics/offers", `{"display_name":"New"}`},
				{"DELETE", "/v1/topics/offers", ""},
				// the writes above have emptied the cache of topics, so this read needs the
				// account
				{"GET", "/v1/topics", ""},
			} {
				got := a.do(t, call[0], call[1], call[2])
				if p := got.refused(down.status, core.CodeUpstreamUnavailable); got.header.Get("Retry-After") == "" || p.RetryAfter == 0 {
					t.Errorf("%s %s does not say when to come back: %+v", call[0], call[1], p)
				}
			}
			for tool, arguments := range map[string]string{
				"contacts_lookup":     `{"email":"here@example.com"}`,
				"contacts_upsert":     `{"email":"here@example.com","attributes":{"city":"` + string(down.kind) + `"}}`,
				"contacts_archive":    `{"email":"here@example.com"}`,
				"audience_get_schema": `{}`,
			} {
				var refusal struct{ Code core.Code }
				if a.callTool(t, agent, tool, arguments).decode(&refusal); refusal.Code != core.CodeUpstreamUnavailable {
					t.Errorf("%s: code %q", tool, refusal.Code)
				}
			}
			for _, path := range []string{"/v1/contacts", "/v1/contact-list", "/v1/lists", "/v1/lists/newsletter/members"} {
				a.do(t, "GET", path, "").want(200)
			}
			a.do(t, "POST", "/v1/contacts/identify", `{"email":"here@example.com"}`).want(200)
			job := a.postBulk(t, bulkOf(string(down.kind), 3))
			if items, _ := a.follow(t, job, 50); len(items) != 3 || items[2].Status != "created" {
				t.Errorf("a bulk write while the account is %v: %+v", down.kind, items)
			}
		}
	})
}
