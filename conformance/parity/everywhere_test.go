package parity

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// TestEveryWriteIsAuditedOnce checks that each write adds one line to the audit log, which
// names the surface (REST or MCP). Reads and replays of answers must add no line.
func TestEveryWriteIsAuditedOnce(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		const path = "/v1/contacts/audit%40example.com"
		for _, c := range []sameness{
			{method: "POST", path: "/v1/contacts", arguments: `{"email":"audit@example.com"}`},
			{method: "PUT", path: path, arguments: `{}`},
			{method: "PATCH", path: path, arguments: `{"unsubscribe_all":true}`},
			{method: "GET", path: path},
			{method: "DELETE", path: path},
		} {
			if got, status := send(t, p, c.method, p.BaseURL+c.path, program, c.arguments); status >= 300 {
				t.Fatalf("%s: %d %v", c.method, status, got)
			}
		}
		for _, name := range []string{"contacts_upsert", "contacts_upsert", "contacts_lookup", "contacts_archive"} {
			if got, _ := (sameness{tool: name, arguments: `{"email":"audit@example.com"}`}).callTool(t, p, agent); got["code"] != nil {
				t.Fatalf("%s: %v", name, got)
			}
		}
		events, err := p.DB.Audit().FindAudit(t.Context(), p.OrgID, access.AuditFilter{Limit: 6})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range slices.Backward(events) {
			lines = append(lines, string(e.Surface)+" "+e.Action)
			if e.SubjectID == "" || e.ActorID == "" || e.RequestID == "" {
				t.Errorf("line %+v", e)
			}
		}
		want := []string{
			string(core.REST) + " contacts_create", string(core.REST) + " contacts_replace", string(core.REST) + " contacts_update",
			string(core.REST) + " contacts_archive", string(core.Agent) + " contacts_upsert", string(core.Agent) + " contacts_archive",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("audit lines (-want +got):\n%s", diff)
		}
	})
}

// readingTools returns the names of the tools that change nothing.
func readingTools() []string {
	var names []string
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		if info := op.Info(); info.Effect == core.Reads && slices.Contains(tools.Table(), info.Name) {
			names = append(names, info.Name)
		}
	}
	return names
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// receiveMail gives an organization an inbox, a verified sender and a receiving domain with a
// message. It returns the ids that reads must show to the organization.
func receiveMail(t *testing.T, p *product.Product, of product.Org, domain string) []string {
	t.Helper()
	var ids []string
	for path, body := range map[string]string{"/v1/inboxes": `{}`, "/v1/verified-senders": `{"email":"box@` + domain + `"}`} {
		made, status := send(t, p, "POST", p.BaseURL+path, of.Live.APIKey, body)
		id, _ := made["id"].(string)
		if status >= 300 || id == "" {
			t.Fatalf("POST %s: %d %v", path, status, made)
		}
		ids = append(ids, id)
	}
	now := p.Clock.Now()
	d := receiving.Domain{ID: core.NewID(), Domain: domain, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: now}
	m := receiving.Message{
		ID: core.NewID(), MessageID: core.NewID(), DomainID: d.ID, Domain: domain, Recipients: []string{"help@" + domain},
		Outcome: receiving.NoRoute, ReceivedAt: now, UpdatedAt: now,
	}
	err := p.DB.ReceivingDomains().InsertDomain(t.Context(), of.OrgID, d)
	if err == nil {
		_, err = p.DB.ReceivedDeliveries().Add(t.Context(), of.OrgID, receiving.LogEntry{
			Message: m, States: []receiving.State{{State: receiving.NoRoute, OccurredAt: now}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(ids, d.ID, m.ID, m.MessageID)
}

// TestNoReadShowsAnotherOrganizationsThings checks that organizations do not see each
// other's data. Two organizations call every read operation that needs no argument. No id
// may occur in the answers to both.
func TestNoReadShowsAnotherOrganizationsThings(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{Mail: true}, func(t *testing.T, p *product.Product) {
		seen, received := map[string]string{}, map[string][]string{
			"one": receiveMail(t, p, p.Org, "one.example.com"), "other": receiveMail(t, p, p.Other, "other.example.com"),
		}
		// These tools need an argument, so they are called in parity_test.go,
		// suppression_test.go, conformance/workflows and conformance/whole instead.
		asked := map[string]bool{
			"messages_diagnose": true, "suppressions_check_address": true, "templates_render": true, "broadcasts_get_status": true,
			"workflows_estimate_enrollment": true,
		}
		for name, credentials := range map[string]product.Credentials{"one": p.Live, "other": p.Other.Live} {
			look := func(what string, answer map[string]any, status int) {
				text, err := json.Marshal(answer)
				if err != nil || status != 200 {
					t.Fatalf("%s: %d %s", what, status, text)
				}
				for _, id := range anyID.FindAllString(string(text), -1) {
					if owner, there := seen[id]; there && owner != name {
						t.Errorf("%s shows %s to both organizations", what, id)
					}
					seen[id] = name
				}
			}
			// an API key, because verified senders belong to a person and the access token of a
			// client that acts for itself identifies none
			program := credentials.APIKey
			for _, route := range rest.Routes() {
				// an operation with a route counts as asked, even if the route has a path
				// parameter and is therefore not called here
				asked[route.Operation] = true
				if route.Method == "GET" && !strings.Contains(route.Path, "{") {
					answer, status := send(t, p, "GET", p.BaseURL+route.Path, program, "")
					look(route.Path, answer, status)
				}
			}
			agent := p.TokenWith(t, credentials, p.MCPURL)
			for _, tool := range readingTools() {
				answer, status := (sameness{tool: tool, arguments: `{}`}).callTool(t, p, agent)
				delete(answer, "request_id") // refusals have this member, with a new id for every request
				look(tool, answer, status)
				asked[tool] = asked[tool] || answer["code"] != string(core.CodeValidationFailed)
			}
		}
		for name, ids := range received {
			for _, id := range ids {
				if seen[id] != name {
					t.Errorf("no read shows %s of received mail to the organization that has it (%s)", id, name)
				}
			}
		}
		if len(seen) < 20 {
			t.Errorf("only %d ids were seen", len(seen))
		}
		for _, op := range catalogue.Operations(catalogue.Domains{}) {
			if info := op.Info(); info.Effect == core.Reads && !asked[info.Name] {
				t.Errorf("%s was not asked", info.Name)
			}
		}
	})
}
