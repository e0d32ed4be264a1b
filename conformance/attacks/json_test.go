package attacks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// hostileValues maps JSON values to the status that REST must return for a contact with an
// attribute of this value. The status is 200 (or 201) or 422. The MCP tool must accept and
// refuse the same values.
var hostileValues = map[string]int{
	`"\ud800"`: 422, `"\udc00\ud800"`: 422, `"\u0000"`: 422, "\"\xff\"": 422, "\"a\x00b\"": 422, `"\x41"`: 422,
	`1e400`: 422, `-1e400`: 422, `1e-400`: 422, `-0`: 200, `1.7976931348623157e308`: 200, `01`: 422, `NaN`: 422,
	`[]`: 422, `{}`: 422, `{"a":{"b":1}}`: 422, `null`: 200, `true`: 200,
	`"` + strings.Repeat("a", 4096) + `"`: 200, `"` + strings.Repeat("a", 4097) + `"`: 422,
	`"` + strings.Repeat("\u00e4", 2048) + `"`: 200, `"` + strings.Repeat("\u00e4", 2049) + `"`: 422,
	`"\ud83d\ude00"`: 200, `"\uffff"`: 200, `"'; DROP TABLE contacts; --"`: 200, `"%_\\"`: 200, `"\u2028"`: 200,
	strings.Repeat("[", 10000) + strings.Repeat("]", 10000):     422,
	strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70): 422,
}

func TestHostileValuesMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		api, agent := caller{p, p.Live.APIKey}, caller{p, p.Token(t, p.MCPURL)}
		number := 0
		for value, status := range hostileValues {
			number++
			got := api.rest(t, "PUT", "/v1/contacts/values@example.com", `{"attributes":{"city":`+value+`}}`)
			if got.status != status && (got.status != 201 || status != 200) {
				t.Errorf("%.40q over REST: %d, want %d: %.200s", value, got.status, status, got.body)
			}
			result := agent.tool(t, "contacts_upsert", fmt.Sprintf(`{"external_id":"v%d","email":"v%d@example.com","attributes":{"city":%s}}`, number, number, value))
			if result.status == 400 && status == 422 {
				continue // the value is not valid JSON: JSON-RPC answers 400
			}
			if failed, problem := result.want(t, 200).failed(t); failed != (status == 422) || problem.Code == "internal_error" {
				t.Errorf("%.40q of an agent: failed %v, want status %d: %.200s", value, failed, status, result.body)
			}
		}
	})
}

// TestStrangeTextComesBack checks that text with escapes, markup or unusual characters is
// returned unchanged, on both databases.
func TestStrangeTextComesBack(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		for _, text := range []string{`\\u0041`, `\"`, `<script>&`, "\u0130\u0131\u212a\u00df", "e\u0301", `{\"a\":1}`, ` leading`, `\t\r\n`} {
			c.rest(t, "PUT", "/v1/contacts/text@example.com", `{"attributes":{"city":"`+text+`"}}`)
			got := c.rest(t, "GET", "/v1/contacts/text@example.com", "").want(t, 200)
			if !sameText(t, got.body, `"`+text+`"`) {
				t.Errorf("%s came back in %s", text, got.body)
			}
		}
	})
}

func TestFiltersTakeNoSyntax(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		for query, status := range map[string]int{
			"attribute_key=$.city&attribute_value=Bergen": 200, "attribute_key=city%27--&attribute_value=x": 200,
			"attribute_key=%5B0%5D&attribute_value=x": 200, "attribute_key=0&attribute_value=x": 200,
			"attribute_key=city&attribute_value=%25": 200, "attribute_key=city&attribute_value=%00": 422,
			"attribute_key=city&attribute_value=%FF": 422, "attribute_key=orders&attribute_value=1e999999": 200,
			"attribute_key=orders&attribute_value=" + strings.Repeat("9", 4096): 200, "topic=%27%20OR%201=1": 200,
			"limit=99999999999999999999": 422, "limit=-1": 422, "limit=1e2": 422, "limit=+5": 422, "limit=0x10": 422,
		} {
			if got := c.rest(t, "GET", "/v1/contacts?"+query, ""); got.status != status {
				t.Errorf("%.60s: %d, want %d: %.200s", query, got.status, status, got.body)
			} else if status == 200 && !strings.Contains(got.body, `"data":[]`) {
				t.Errorf("%.60s found somebody: %.200s", query, got.body)
			}
		}
	})
}

// TestPathDecidesWhomACallIsAbout checks that a request applies to the contact in its path.
// If the body or the query names another contact, in any spelling, the request must be
// refused.
func TestPathDecidesWhomACallIsAbout(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	c := caller{p, p.Live.APIKey}
	for _, body := range []string{
		`{"email":"victim@example.com"}`, `{"\u0065mail":"victim@example.com"}`, `{"Email":"victim@example.com"}`,
		`{"attributes":{},"EMAIL":"victim@example.com"}`, `{}{"email":"victim@example.com"}`, `{},"email":"victim@example.com"}`,
		`,"x":1}`, `[{"email":"victim@example.com"}]`, "\ufeff{}", `{"email":"a@example.com","email":"victim@example.com"}`,
	} {
		c.rest(t, "PUT", "/v1/contacts/named@example.com", body).want(t, 422)
	}
	for _, query := range []string{"email=victim@example.com", "%65mail=victim@example.com", "Email=victim@example.com"} {
		c.rest(t, "DELETE", "/v1/contacts/"+p.Contact+"?"+query, "").want(t, 422)
	}
	c.rest(t, "GET", "/v1/contacts/victim@example.com", "").want(t, 404)
	c.rest(t, "GET", "/v1/contacts/named@example.com", "").want(t, 404)
}
