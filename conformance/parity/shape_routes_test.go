package parity

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
)

// routeShape is a GET route with the expected members of its response. It also has calls
// whose responses together contain all of these members.
type routeShape struct {
	path  string
	table string
	// own and other complete the URLs of the calls: each URL is the part of path before its
	// first path parameter, followed by one of these strings. The first organization makes
	// the calls with the strings in own, the second organization those with other.
	own, other []string
}

// listOf returns the expected members of a list response. It makes them from the expected
// members of one record in the list.
func listOf(record string) string {
	table := ""
	for line := range strings.Lines(record) {
		if line = strings.TrimSpace(line); line != "" {
			table += "data[]." + line + "\n"
		}
	}
	return table
}

func pageOf(record string) string { return listOf(record) + paginationTable }

func routesOf(t *testing.T, s shapeScene) []routeShape {
	t.Helper()
	messages := []string{}
	for _, status := range []string{"Send", "Delivery", "Bounce", "Complaint", "Reject", "Open", "Click", "DeliveryDelay"} {
		messages = append(messages, s.first(t, "/v1/messages?limit=1&status="+status, "id"))
	}
	events := make([]string, len(messages))
	for i, id := range messages {
		events[i] = id + "/events"
	}
	mailed := s.mailedTwice(t) + "/messages"
	return []routeShape{
		{"/v1/account", accountTable, []string{""}, []string{""}},
		{"/v1/channels", pageOf(channelTable), []string{"", "?limit=1"}, []string{""}},
		{"/v1/channels/{name}", channelTable, []string{"marketing", "later", "default"}, nil},
		{"/v1/identities", pageOf(identityTable), []string{"", "?limit=1"}, []string{""}},
		{"/v1/identities/{identity}", identityTable, []string{"EXAMPLE.com", "news%40example.org", "later.example.com"}, nil},
		{"/v1/tracking-domains", pageOf(trackingDomainTable), []string{"", "?limit=1"}, []string{""}},
		{"/v1/tracking-domains/{domain}", trackingDomainTable, []string{"Click.example.com", "later.example.com"}, nil},
		{"/v1/templates", pageOf(templateTable), []string{"", "?limit=1"}, []string{""}},
		{"/v1/templates/{slug}", templateDetailTable, []string{"welcome", "broken"}, nil},
		{"/v1/messages", pageOf(messageTable), []string{"?limit=200"}, []string{""}},
		{"/v1/messages/{id}", messageTable, messages, []string{"bare", "unrendered"}},
		{"/v1/messages/{id}/events", listOf(eventTable), events, []string{"bare/events", "unrendered/events"}},
		{"/v1/recipients/{email}/messages", pageOf(strings.ReplaceAll(messageTable, " ? ", " (?) ")), []string{mailed, mailed + "?limit=1"}, nil},
		{"/v1/reports/deliverability", listOf(deliverabilityTable), []string{"", "?group_by=month"}, []string{""}},
		{"/v1/reports/engagement", listOf(engagementTable), []string{"", "?group_by=week"}, []string{""}},
		{"/v1/reports/template-performance", listOf(templatePerformanceTable), []string{""}, []string{""}},
		{"/v1/suppressions", pageOf(suppressionTable), []string{"?limit=1", "?limit=200"}, []string{""}},
		{"/v1/suppressions/{email}", suppressionTable, []string{s.first(t, "/v1/suppressions?limit=1", "email")}, nil},
		{"/v1/undeliverable", pageOf(undeliverableTable), []string{"?limit=1", "?since=2026-01-01T00:00:00Z&limit=200"}, []string{""}},
		{"/v1/undeliverable/rules", rulesTable(), []string{""}, []string{""}},
	}
}

// mailedTwice returns an address that clicked in a message and that has more than one message.
// The random history of the demo also has addresses with only one.
func (s shapeScene) mailedTwice(t *testing.T) string {
	t.Helper()
	var clicked, own struct {
		Data       []struct{ To string }
		Pagination struct {
			HasMore bool `json:"has_more"`
		}
	}
	s.decode(t, s.get(t, s.own, "/v1/messages?limit=50&status=Click"), &clicked)
	for _, message := range clicked.Data {
		if s.decode(t, s.get(t, s.own, "/v1/recipients/"+message.To+"/messages?limit=1"), &own); own.Pagination.HasMore {
			return message.To
		}
	}
	t.Fatalf("each of the %d addresses that clicked has one message", len(clicked.Data))
	return ""
}

// prefix returns the part of the route's path before the first path parameter.
func (r routeShape) prefix() string {
	before, _, _ := strings.Cut(r.path, "{")
	return before
}

// TestReadsOfTheAPI tests every GET route. All parts of the test share one product, because
// creating its demo data takes longer than all calls.
func TestReadsOfTheAPI(t *testing.T) {
	t.Parallel()
	s := newShapeScene(t)
	all := routesOf(t, s)
	for _, part := range []struct {
		name string
		test func(*testing.T, []routeShape)
	}{
		{"answers", s.answers},
		{"headers", s.headers},
		{"refusals", s.refusals},
		{"failures of the account", s.failures},
		{"over the limit", s.overTheLimit}, // nothing is answered after it
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, all) }) {
			return
		}
	}
}

func (s shapeScene) answers(t *testing.T, all []routeShape) {
	described := s.described(t)
	for _, r := range all {
		shape := shapeOf(t, r.table)
		if diff := cmp.Diff(shape.declared(), declaredBy(described[r.path])); diff != "" {
			t.Errorf("%s is described (-table +document):\n%s", r.path, diff)
		}
		seen := surveyOf(shape)
		look := func(credential, target string) {
			got := s.get(t, credential, r.prefix()+target)
			if got.status != http.StatusOK {
				t.Fatalf("%s%s: %d %s", r.prefix(), target, got.status, got.body)
			}
			seen.look(t, r.prefix()+target, got.body)
		}
		for _, target := range r.own {
			look(s.own, target)
		}
		for _, target := range r.other {
			look(s.other, target)
		}
		if r.path == "/v1/account" {
			s.ask(t, sending.AccessFailed)
			look(s.other, "")
			s.withFailingAccount(func() { look(s.other, "") })
		}
		seen.complete(t, r.path)
	}
}

// described returns the schemas of successful responses in the OpenAPI document, keyed by
// path.
func (s shapeScene) described(t *testing.T) map[string]map[string]any {
	t.Helper()
	var document struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct {
						Schema struct {
							Ref string `json:"$ref"`
						}
					}
				}
			}
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal([]byte(s.get(t, "", "/v1/openapi.json").body), &document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]map[string]any{}
	for path, of := range document.Paths {
		name := strings.TrimPrefix(of.Get.Responses["200"].Content["application/json"].Schema.Ref, "#/components/schemas/")
		schemas[path] = document.Components.Schemas[name]
	}
	return schemas
}
