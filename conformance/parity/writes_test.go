package parity

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestFailedWritesSayTheSame archives a contact while the sending account fails. Route and
// tool must return the same problem, and the contact must remain active.
func TestFailedWritesSayTheSame(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		contact := "/v1/contacts/" + strings.ReplaceAll(p.Contact, "@", "%40")
		for _, kind := range []sending.FailureKind{sending.Refused, sending.Throttled, sending.TimedOut} {
			sameness{
				name: string(kind), tool: "contacts_archive", arguments: `{"email":"` + p.Contact + `"}`, method: "DELETE", path: contact,
				live: true, scopes: []string{"api.contacts.manage"}, faults: []simulator.Fault{{Kind: kind}},
			}.check(t, p)
		}
		read := sameness{method: "GET", path: contact}
		if got, status := read.callRoute(t, p, p.Token(t, p.BaseURL)); status != 200 || got["status"] != "active" {
			t.Errorf("after failed archiving: %d %v", status, got)
		}
	})
}

// TestBothSurfacesWriteOneContact creates a contact by a tool and changes it by a route.
// Both must then read the same contact.
func TestBothSurfacesWriteOneContact(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		const email, path = "both@example.com", "/v1/contacts/both%40example.com"
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		upsert := sameness{tool: "contacts_upsert", arguments: `{"email":"` + email + `","attributes":{"city":"Graz"},"topic_preferences":{"offers":"OPT_IN"}}`}
		if made, status := upsert.callTool(t, p, agent); status != 200 || made["result"] != "created" {
			t.Fatalf("%d %v", status, made)
		}
		answer, status := send(t, p, "PATCH", p.BaseURL+path, program, `{"attributes":{"orders":2}}`)
		if attributes, _ := answer["attributes"].(map[string]any); status != 200 || attributes["city"] != "Graz" || attributes["orders"] != 2.0 {
			t.Errorf("%d %v", status, answer)
		}
		(&sameness{
			tool: "contacts_lookup", arguments: `{"email":"` + email + `"}`, method: "GET", path: path,
			live: true, scopes: []string{"api.contacts.view"}, pick: contactOf,
		}).check(t, p)
	})
}
