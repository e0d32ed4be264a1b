package rest_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// pagedLists are the list routes about sending (such as messages and templates) that return
// pages. windows are the routes that accept a time window.
var (
	pagedLists = []string{
		"/v1/messages", "/v1/recipients/p%40x.example/messages", "/v1/suppressions", "/v1/undeliverable",
		"/v1/channels", "/v1/identities", "/v1/tracking-domains", "/v1/templates",
	}
	windows = []string{
		"/v1/messages", "/v1/recipients/p%40x.example/messages",
		"/v1/reports/deliverability", "/v1/reports/engagement", "/v1/reports/template-performance",
	}
	byChannel = []string{"/v1/messages", "/v1/reports/deliverability", "/v1/reports/engagement", "/v1/reports/template-performance"}
	enums     = map[string]string{
		"/v1/messages?status=": "status", "/v1/suppressions?reason=": "reason", "/v1/undeliverable?status=": "status",
		"/v1/reports/deliverability?group_by=": "group_by", "/v1/reports/engagement?group_by=": "group_by",
	}
)

// refusedFor ends the test unless the response is validation_failed. It also checks that an
// error in the response names the query parameter member.
func (a *api) refusedFor(t *testing.T, target, member string) {
	t.Helper()
	p := a.do(t, "GET", target, "").refused(422, core.CodeValidationFailed)
	if !slices.ContainsFunc(p.Errors, func(e core.FieldError) bool { return e.Field == member }) {
		t.Errorf("%.200s: errors = %+v, want one about %q", target, p.Errors, member)
	}
}

// TestReadsRefuseByName checks that reads about sending refuse a malformed query parameter
// and name it in the error. A well-formed value that matches nothing must give an empty
// result.
func TestReadsRefuseByName(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.sent(t)
		mirrored(t, p)
		hostile := []string{"", " ", "x", "\x00", "\xff", "-1", "null", "{}", strings.Repeat("9", 400), "\u202e", "' OR 1=1 --"}
		for _, list := range pagedLists {
			for _, limit := range append([]string{"0", "201", "1.5", "1e2", "0x10", "+1", "99999999999999999999", "abc"}, hostile...) {
				a.refusedFor(t, list+"?limit="+url.QueryEscape(limit), "limit")
			}
			a.refusedFor(t, list+"?limit=1&limit=2", "limit")
			a.refusedFor(t, list+"?lImit=1", "lImit")
		}
		for _, window := range append([]string{"/v1/suppressions"}, windows...) {
			for _, at := range append([]string{"yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01", "1767225600", "2026-01-01T00:00:00", "99999-01-01T00:00:00Z"}, hostile...) {
				a.refusedFor(t, window+"?from="+url.QueryEscape(at), "from")
				a.refusedFor(t, window+"?to="+url.QueryEscape(at), "to")
			}
			a.refusedFor(t, window+"?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z", "from")
			a.refusedFor(t, window+"?from=2026-02-02T00:00:00Z&to=2026-02-02T00:00:00Z", "from")
			a.do(t, "GET", window+"?to=9999-12-31T23:59:59Z", "").want(200)
		}
		for _, path := range byChannel {
			for _, channel := range append([]string{"marketing", "00000000-0000-0000-0000-00000000000g"}, hostile...) {
				a.refusedFor(t, path+"?channel="+url.QueryEscape(channel), "channel")
			}
			var nothing struct{ Data []any }
			if a.do(t, "GET", path+"?channel="+core.NewID(), "").want(200).decode(&nothing); len(nothing.Data) != 0 {
				t.Errorf("%s with a channel that there is not: %v", path, nothing.Data)
			}
		}
		for target, member := range enums {
			for _, value := range append([]string{"bounce ", "BOUNCES", "days"}, hostile...) {
				a.refusedFor(t, target+url.QueryEscape(value), member)
			}
		}
	})
}

// TestWindowsReachAsFarAsThePlan checks that a time window may begin exactly at the limit
// of the plan. A window that begins earlier must be refused, with the limit in the error.
func TestWindowsReachAsFarAsThePlan(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		p.Clock.Freeze(p.Clock.Now())
		oldest := p.Clock.Now().AddDate(0, 0, -365).UTC()
		for _, window := range windows {
			for _, from := range []string{"2001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", oldest.Add(-2 * time.Minute).Format(time.RFC3339)} {
				got := a.do(t, "GET", window+"?from="+from, "")
				got.refused(403, core.CodePlanRetentionExceeded)
				if !strings.Contains(string(got.body), `"retention_days":365`) {
					t.Errorf("%s does not say how far back: %s", window, got.body)
				}
			}
			a.do(t, "GET", window+"?from="+oldest.Format(time.RFC3339), "").want(200)
		}
	})
}

// TestCursorsOfOtherLists checks that a cursor is refused by other lists and with other
// filters, and never returns rows of another organization.
func TestCursorsOfOtherLists(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.sent(t)
		mirrored(t, p)
		cursors := map[string]string{}
		for _, list := range append([]string{"/v1/contacts"}, pagedLists...) {
			if next := a.do(t, "GET", list+"?limit=1", "").want(200).page().Pagination.NextCursor; next != nil {
				cursors[list] = *next
			}
		}
		if len(cursors) < 6 {
			t.Errorf("only %d lists have a second page", len(cursors))
		}
		others := a.as(p.Other.Live.APIKey)
		for _, list := range pagedLists {
			for from, cursor := range cursors {
				if from != list && from != "/v1/recipients/p%40x.example/messages" {
					a.refusedFor(t, list+"?cursor="+cursor, "cursor")
				}
			}
			for _, cursor := range []string{"x", "\x00", "\xff", "null", "e30", strings.Repeat("A", 1024), strings.Repeat("A", 9000)} {
				a.refusedFor(t, list+"?cursor="+url.QueryEscape(cursor), "cursor")
			}
			cursor, paged := cursors[list]
			if !paged {
				continue
			}
			got := others.do(t, "GET", list+"?limit=200&cursor="+cursor, "").want(200)
			for _, ours := range []string{"p@x.example", "p***@x.example", "shop.example", "click.example.com", "marketing", `"Welcome"`} {
				if strings.Contains(string(got.body), ours) {
					t.Errorf("%s shows %q to another organization: %.300s", list, ours, got.body)
				}
			}
		}
		a.refusedFor(t, "/v1/messages?status=Bounce&cursor="+cursors["/v1/messages"], "cursor")
		a.refusedFor(t, "/v1/templates?untagged=true&cursor="+cursors["/v1/templates"], "cursor")
	})
}

// TestHostilePathParts puts malformed text in place of names in the path of every route. It
// checks that the response is "not found" or "invalid".
func TestHostilePathParts(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		parts := []string{
			"none", "%00", "a%00b", "%ff", "%C0%AF", "%2F", "%2f%2e%2e%2fetc", "..%2F..", "%E2%80%AE", "%25", "%20", "*", "'--", "%5C",
			strings.Repeat("x", 255), strings.Repeat("x", 10<<10), strings.Repeat("%F0%9F%90%8C", 300),
		}
		for _, route := range []string{
			"/v1/messages/{}", "/v1/messages/{}/events", "/v1/recipients/{}/messages", "/v1/suppressions/{}",
			"/v1/channels/{}", "/v1/identities/{}", "/v1/tracking-domains/{}", "/v1/templates/{}",
		} {
			for _, part := range parts {
				got := a.do(t, "GET", strings.Replace(route, "{}", part, 1), "")
				empty := got.status == http.StatusOK && strings.HasPrefix(route, "/v1/recipients/") && strings.Contains(string(got.body), `"data":[]`)
				if got.status != http.StatusNotFound && got.status != http.StatusUnprocessableEntity && !empty {
					t.Errorf("%s with %.60s: %d %.300s", route, part, got.status, got.body)
				}
				if !empty && !strings.Contains(string(got.body), `"next_step":"`) {
					t.Errorf("%s with %.60s: no problem document: %.300s", route, part, got.body)
				}
			}
		}
	})
}

// TestFailuresOfTheAccountAreDocumented checks every route that calls the sending account.
// If the account fails, the route must answer with a documented 503 or 504 and the header
// Retry-After.
func TestFailuresOfTheAccountAreDocumented(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	contact := "/v1/contacts/" + url.PathEscape(a.Contact)
	calls := map[string]string{
		"/v1/suppressions": "GET", "/v1/suppressions/p%40x.example": "GET", "/v1/topics": "GET", contact: "GET",
	}
	for fault, status := range map[simulator.Fault]int{
		{Kind: sending.Throttled, RetryAfter: 7 * time.Second}: 503, {Kind: sending.TimedOut}: 504,
	} {
		a.Simulator.Faults().Set(fault)
		for path, method := range calls {
			got := a.do(t, method, path, "")
			got.refused(status, core.CodeUpstreamUnavailable)
			if got.header.Get("Retry-After") == "" {
				t.Errorf("%s: no Retry-After", path)
			}
		}
		for _, method := range []string{"PUT", "PATCH", "DELETE"} {
			body := map[string]string{"PUT": "{}", "PATCH": `{"unsubscribe_all":true}`}[method]
			a.do(t, method, contact, body).refused(status, core.CodeUpstreamUnavailable)
		}
		a.do(t, "POST", "/v1/contacts", `{"email":"fault@example.com"}`).refused(status, core.CodeUpstreamUnavailable)
	}
}
