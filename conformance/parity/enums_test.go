package parity

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestEnumerationsInAnyCase sends enumerated values in several cases to both surfaces. Each
// must answer as for the documented spelling, store and return that spelling, and recognize
// a repeated write. A value that is unknown in every case must be refused with the
// documented spellings.
func TestEnumerationsInAnyCase(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		recordMessages(t, p)
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		for _, status := range []string{"Bounce", "bounce", "BOUNCE"} {
			found, code := sameness{tool: "messages_search", arguments: `{"status":"` + status + `","template":"welcome"}`}.callTool(t, p, agent)
			if items, _ := found["items"].([]any); code != 200 || len(items) != 1 || items[0].(map[string]any)["status"] != "Bounce" {
				t.Errorf("messages_search %s: %d %v", status, code, found)
			}
			page, code := send(t, p, "GET", p.BaseURL+"/v1/messages?template=welcome&status="+url.QueryEscape(status), program, "")
			if items, _ := page["data"].([]any); code != 200 || len(items) != 1 || items[0].(map[string]any)["status"] != "Bounce" {
				t.Errorf("/v1/messages?status=%s: %d %v", status, code, page)
			}
		}
		const allowed = "must be one of Send, Delivery, Bounce, Complaint"
		refused, _ := sameness{tool: "messages_search", arguments: `{"status":"bounces"}`}.callTool(t, p, agent)
		if message, _ := refused["message"].(string); refused["code"] != "validation_failed" || !strings.Contains(message, allowed) {
			t.Errorf("an unknown status: %v", refused)
		}
		refused, code := send(t, p, "GET", p.BaseURL+"/v1/messages?status=bounces", program, "")
		if detail, _ := refused["detail"].(string); code != 422 || !strings.Contains(detail, allowed) {
			t.Errorf("an unknown status: %d %v", code, refused)
		}
	})
}

// TestWritesInAnyCaseAreOneWrite writes the consent of a contact in several cases.
func TestWritesInAnyCaseAreOneWrite(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		upsert := func(status string) map[string]any {
			made, code := sameness{tool: "contacts_upsert", arguments: `{"email":"case@example.com","topic_preferences":{"offers":"` + status + `"}}`}.callTool(t, p, agent)
			if code != 200 || made["code"] != nil {
				t.Fatalf("contacts_upsert %s: %d %v", status, code, made)
			}
			return made
		}
		if made := upsert("opt_out"); made["replayed"] == true {
			t.Errorf("the first call is replayed: %v", made)
		}
		if again := upsert("OPT_OUT"); again["replayed"] != true {
			t.Errorf("the same call in another case is made again: %v", again)
		}
		contact := p.BaseURL + "/v1/contacts/case%40example.com"
		patch := func(status string) answer {
			return ask(t, p, request{
				method: "PATCH", url: contact, bearer: program, header: map[string]string{"Idempotency-Key": "case"},
				body: `{"topic_preferences":[{"topic":"offers","subscription_status":"` + status + `"}]}`,
			})
		}
		if first, again := patch("Opt_In"), patch("opt_in"); first.status != 200 || again.status != 200 || again.body != first.body || !strings.Contains(first.body, `"OPT_IN"`) {
			t.Errorf("PATCH: %d %s, then %d %s", first.status, first.body, again.status, again.body)
		}
		if other := patch("OPT_OUT"); other.status != 409 {
			t.Errorf("another choice under the same key: %d %s", other.status, other.body)
		}
	})
}
