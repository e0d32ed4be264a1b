package parity

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/suppression"
)

// suppress gives each of the two organizations one suppressed address. The address is on
// the suppression list of the sending account, and on the product's own list of
// undeliverable addresses.
func suppress(t *testing.T, p *product.Product) {
	t.Helper()
	at := p.Clock.Now().UTC().Truncate(time.Second)
	for org, email := range map[string]string{p.OrgID: "Ours@Example.com", p.Other.OrgID: "theirs@example.com"} {
		err := p.Simulator.Seed(t.Context(), org, simulator.Setup{Suppressed: []sending.Suppressed{{Email: email, Reason: sending.SuppressedByComplaint, At: at}}})
		if err != nil {
			t.Fatal(err)
		}
		err = p.DB.Suppression().SaveEntries(t.Context(), org, []suppression.Entry{{
			Key: suppression.AddressKey(email), Email: email, Status: suppression.Listed, Reason: suppression.Complaint,
			FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func suppressionCases() []sameness {
	suppressions, undeliverable := []string{"api.suppressions.view"}, []string{"api.undeliverable.view"}
	down := []simulator.Fault{{Kind: sending.Throttled}}
	gone := []simulator.Fault{{Kind: sending.TimedOut}}
	return []sameness{
		{name: "account throttles", tool: "suppressions_list", arguments: `{}`, method: "GET", path: "/v1/suppressions", live: true, scopes: suppressions, faults: down},
		{name: "account is silent", tool: "suppressions_list", arguments: `{}`, method: "GET", path: "/v1/suppressions", live: true, scopes: suppressions, faults: gone},
		{name: "account throttles a check", tool: "suppressions_check_address", arguments: `{"email":"a@example.com"}`, method: "GET", path: "/v1/suppressions/a%40example.com", live: true, scopes: suppressions, faults: down},
		{name: "a suppressed address", tool: "suppressions_check_address", arguments: `{"email":"OURS@example.com"}`, method: "GET", path: "/v1/suppressions/OURS%40example.com", live: true, scopes: suppressions, pick: suppressedOf},
		{name: "a check, missing scope", tool: "suppressions_check_address", arguments: `{"email":"ours@example.com"}`, method: "GET", path: "/v1/suppressions/ours%40example.com", live: true, scopes: undeliverable},
		{name: "suppressions", tool: "suppressions_list", arguments: `{}`, method: "GET", path: "/v1/suppressions", live: true, scopes: suppressions, pick: itemsOf},
		{name: "complaints", tool: "suppressions_list", arguments: `{"reason":"complaint"}`, method: "GET", path: "/v1/suppressions?reason=complaint", scopes: suppressions, pick: itemsOf},
		{name: "suppressions, no such reason", tool: "suppressions_list", arguments: `{"reason":"whim"}`, method: "GET", path: "/v1/suppressions?reason=whim", live: true, scopes: suppressions},
		{name: "suppressions, missing scope", tool: "suppressions_list", arguments: `{}`, method: "GET", path: "/v1/suppressions", live: true, scopes: undeliverable},
		{name: "no address", tool: "suppressions_check_address", arguments: `{"email":"no-address"}`, method: "GET", path: "/v1/suppressions/no-address", live: true, scopes: suppressions},
		{name: "undeliverable", tool: "undeliverable_list", arguments: `{}`, method: "GET", path: "/v1/undeliverable?limit=200", live: true, scopes: undeliverable, pick: itemsOf},
		{name: "undeliverable since", tool: "undeliverable_list", arguments: `{"since":"2999-01-01T00:00:00Z"}`, method: "GET", path: "/v1/undeliverable?since=2999-01-01T00:00:00Z", live: true, scopes: undeliverable, pick: itemsOf},
		{name: "undeliverable, no time", tool: "undeliverable_list", arguments: `{"since":"yesterday"}`, method: "GET", path: "/v1/undeliverable?since=yesterday", live: true, scopes: undeliverable},
		{name: "undeliverable, missing scope", tool: "undeliverable_list", arguments: `{}`, method: "GET", path: "/v1/undeliverable", live: true, scopes: suppressions},
	}
}

// suppressedOf returns the reason and the time of a suppression from the result of the tool
// suppressions_check_address and from that of GET /v1/suppressions/{email}.
func suppressedOf(tool, route map[string]any) (map[string]any, map[string]any) {
	of := func(from map[string]any) map[string]any {
		return map[string]any{"reason": from["reason"], "suppressed_at": from["suppressed_at"]}
	}
	return of(tool), of(route)
}

func TestSuppressionIsTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		suppress(t, p)
		for _, c := range suppressionCases() {
			t.Run(c.name, func(t *testing.T) { c.check(t, p) })
		}
	})
}

func TestSuppressionOverREST(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		suppress(t, p)
		token := p.TokenWith(t, p.Live, p.BaseURL, "api.suppressions.view", "api.undeliverable.view")
		list := get(t, p, token, "/v1/undeliverable?limit=200")
		rules := get(t, p, token, "/v1/undeliverable/rules").body
		version := list.header.Get("X-Service-Rules-Version")
		if version == "" || !strings.Contains(rules, `"version":"`+version+`"`) || !strings.Contains(list.body, "Ours@Example.com") {
			t.Errorf("version %q, rules %s, list %s", version, rules, list.body)
		}
		search := get(t, p, token, "/v1/suppressions?email=OURS%40").body
		if !strings.Contains(search, "Ours@Example.com") || !strings.Contains(search, `"has_more":false`) {
			t.Errorf("search: %s", search)
		}
		if one := get(t, p, token, "/v1/suppressions/OURS%40EXAMPLE.com").body; !strings.Contains(one, `"email":"Ours@Example.com"`) {
			t.Errorf("not as it is stored: %s", one)
		}
		for _, path := range []string{"/v1/suppressions?email=theirs", "/v1/suppressions", "/v1/undeliverable?limit=200", "/v1/suppressions/theirs%40example.com"} {
			if body := get(t, p, token, path).body; strings.Contains(body, "theirs@example.com") && strings.Contains(body, "suppressed_at") {
				t.Errorf("%s shows another organization's: %s", path, body)
			}
		}
		p.Simulator.Faults().Set(simulator.Fault{Kind: sending.Throttled})
		refused := get(t, p, token, "/v1/suppressions/ours%40example.com")
		p.Simulator.Faults().Clear()
		if refused.status != http.StatusServiceUnavailable || refused.header.Get("Retry-After") == "" {
			t.Errorf("throttled: %d %s", refused.status, refused.body)
		}
	})
}

// TestHostileAddresses sends malformed text in the path and the query of the routes for
// suppressions. The answer must never be a server error, and a refusal must have an error
// code.
func TestHostileAddresses(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := p.TokenWith(t, p.Live, p.BaseURL, "api.suppressions.view", "api.undeliverable.view")
	for _, text := range []string{
		"\x00", "a\x00@example.com", "\xff\xfe@example.com", strings.Repeat("a", 5000) + "@example.com", "münchen@exämple.com",
		"a@b@c", "../../etc/passwd", "' OR 1=1 --", "\u202e@example.com", "{}", "null", "a b@example.com", `"quoted"@example.com`,
	} {
		got := get(t, p, token, "/v1/suppressions/"+url.PathEscape(text))
		if got.status < 400 || got.status >= 500 || !strings.Contains(got.body, `"code"`) {
			t.Errorf("path %q: %d %s", text, got.status, got.body)
		}
		for _, member := range []string{"email", "reason", "from", "to", "limit", "cursor"} {
			got := get(t, p, token, "/v1/suppressions?"+member+"="+url.QueryEscape(text))
			if got.status >= 500 || got.status >= 300 && !strings.Contains(got.body, `"code"`) {
				t.Errorf("%s %q: %d %s", member, text, got.status, got.body)
			}
		}
		for _, member := range []string{"since", "status", "limit", "cursor"} {
			got := get(t, p, token, "/v1/undeliverable?"+member+"="+url.QueryEscape(text))
			if got.status < 400 || got.status >= 500 || !strings.Contains(got.body, `"code"`) {
				t.Errorf("undeliverable %s %q: %d %s", member, text, got.status, got.body)
			}
		}
	}
}
