package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// operation is a call that is measured. body and path may have %d, which each call replaces by
// a number of its own.
type operation struct {
	name   string // of the operation, with a note on the call
	why    string // who makes this call
	method string
	path   string
	body   string
	// limited is true if only a few calls an hour are allowed.
	limited bool
}

// mostUsed are the twenty operations that are measured. They are what programs and agents do
// most. In their paths and bodies, %d is a number of each call, and names in braces are records
// of the demo; see prepared.
var mostUsed = []operation{
	{name: "contacts_lookup", why: "an agent before each answer about a person, a program at each sign-in", path: "/v1/contacts/{contact}"},
	{
		name: "contacts_create", why: "a program at each sign-up",
		method: http.MethodPost, path: "/v1/contacts", body: `{"email":"floor%d@example.com","attributes":{"first_name":"Ann","orders":1}}`,
	},
	{
		name: "contacts_replace", why: "the nightly copy of an application's users",
		method: http.MethodPut, path: "/v1/contacts/floor%d@example.com", body: `{"attributes":{"first_name":"Bo","orders":%d}}`,
	},
	{
		name: "contacts_update, lists", why: "a sign-up for a newsletter: an attribute, and a list to join",
		method: http.MethodPatch, path: "/v1/contacts/floor%d@example.com", body: `{"attributes":{"orders":3},"lists":{"add":["newsletter"]}}`,
	},
	{name: "contacts_archive", why: "a program when a user leaves", method: http.MethodDelete, path: "/v1/contacts/floor%d@example.com"},
	{name: "contacts_list, 50", why: "exports, and the first look of an agent", path: "/v1/contacts?limit=50"},
	{
		name: "segments_preview_predicate", why: "an agent counts to whom it is going to write",
		method: http.MethodPost, path: "/v1/segments/preview", body: `{"source":"attr.orders >= 5 and subscribed to \"product-news\""}`,
	},
	{name: "activities_record", why: "a program at each order", method: http.MethodPost, path: "/v1/activities", body: activity("%d")},
	{
		name: "activities_record, 100", why: "a program that collects what its users do",
		method: http.MethodPost, path: "/v1/activities", body: hundredActivities(),
	},
	{name: "messages_list, 50", why: "support and agents search what was sent", path: "/v1/messages?limit=50"},
	{name: "messages_get", why: "a program asks whether its message arrived", path: "/v1/messages/{message}"},
	{name: "messages_events", why: "an agent finds out why it did not", path: "/v1/messages/{message}/events"},
	{name: "suppressions_get", why: "a program before it writes to an address", path: "/v1/suppressions/{suppressed}"},
	{
		name: "reports_deliverability", why: "the daily report of an agent, of 30 days",
		path: "/v1/reports/deliverability?from=2026-02-10T00:00:00Z&to=2026-03-12T00:00:00Z",
	},
	{
		name: "broadcasts_create", why: "an agent drafts a campaign", method: http.MethodPost, path: "/v1/broadcasts",
		body: `{"name":"Draft %d","subject":"Hello","html":"<p>Hello</p>","audience_kind":"list","audience_id":"{list}","topic_id":"product-news"}`,
	},
	{name: "broadcasts_results", why: "the results of a campaign, read until they settle", path: "/v1/broadcasts/{broadcast}/results"},
	{name: "workflows_runs, 50", why: "an agent watches who is in a workflow", path: "/v1/workflows/welcome/runs?limit=50"},
	{name: "inboxes_messages, none", why: "a test waits for mail", path: "/v1/inboxes/{inbox}/messages"},
	{name: "inboxes_create", why: "a test of a sign-up begins", method: http.MethodPost, path: "/v1/inboxes", body: `{"ttl":60}`, limited: true},
	{
		name: "broadcasts_test_send", why: "a campaign in one's own mailbox; it hands a message to the account",
		method: http.MethodPost, path: "/v1/broadcasts/{draft}/test", body: `{"recipients":["test@example.com"]}`, limited: true,
	},
}

// prepared returns the operations with the ids of records of the product, which has the demo's
// past.
func prepared(b *testing.B, p *product.Product) []operation {
	b.Helper()
	list := ids(b, p, "/v1/lists?limit=1", "id")[0]
	campaigns := ids(b, p, "/v1/broadcasts?limit=100", "id")
	names := strings.NewReplacer(
		"{contact}", url.PathEscape(p.Contact),
		"{message}", ids(b, p, "/v1/messages?limit=1", "id")[0],
		"{suppressed}", url.PathEscape(ids(b, p, "/v1/suppressions?limit=1", "email")[0]),
		"{list}", list, "{email}", p.Contact,
		"{broadcast}", campaigns[len(campaigns)-1],
		"{draft}", created(b, p, "/v1/broadcasts", `{"name":"To test","subject":"Hello","html":"<p>Hello</p>","audience_kind":"list","audience_id":"`+list+`","topic_id":"product-news"}`),
		"{inbox}", created(b, p, "/v1/inboxes", `{"ttl":3600}`),
	)
	all := slices.Clone(mostUsed)
	for i, op := range all {
		all[i].path, all[i].body = names.Replace(op.path), names.Replace(op.body)
	}
	return all
}

// activity returns an activity of a contact as JSON. key makes it different from others.
func activity(key string) string {
	return `{"email":"{email}","name":"purchase","idempotency_key":"floor-` + key + `","properties":{"amount_eur":12.5,"coffee":"Huila"}}`
}

// hundredActivities returns the body of a call with 100 activities.
func hundredActivities() string {
	all := make([]string, 100)
	for i := range all {
		all[i] = activity(fmt.Sprintf("%%d-%d", i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// ids returns a member of each item of a page.
func ids(b *testing.B, p *product.Product, path, member string) []string {
	b.Helper()
	answer := p.Send(b, product.Request{URL: p.BaseURL + path, Bearer: p.Live.APIKey})
	var page struct {
		Data []map[string]any `json:"data"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &page); err != nil || len(page.Data) == 0 {
		b.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
	}
	all := make([]string, len(page.Data))
	for i, item := range page.Data {
		all[i], _ = item[member].(string)
		if all[i] == "" {
			b.Fatalf("%s: an item without %s: %v", path, member, item)
		}
	}
	return all
}

// created creates a record and returns its id.
func created(b *testing.B, p *product.Product, path, body string) string {
	b.Helper()
	answer := p.Send(b, product.Request{Method: http.MethodPost, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || made.ID == "" {
		b.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
	}
	return made.ID
}
