package rest_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// orderedRoute is a route with parameters that returns a list. by is the member with the
// time by which the list is sorted, newest first. If by is "", the order is not checked.
type orderedRoute struct{ target, by string }

func readsInOrder(bounced string) []orderedRoute {
	return []orderedRoute{
		{target: "/v1/messages?status=Bounce&template=wholesale-reopening&from=" + monthAgo, by: "sent_at"},
		{target: "/v1/recipients/" + url.PathEscape(bounced) + "/messages", by: "sent_at"},
		{target: "/v1/suppressions", by: "suppressed_at"},
		{target: "/v1/suppressions?reason=complaint", by: "suppressed_at"},
		{target: "/v1/undeliverable", by: "last_changed_at"},
		{target: "/v1/undeliverable?since=2001-01-01T00:00:00Z", by: "last_changed_at"},
		{target: "/v1/undeliverable?status=excluded", by: "last_changed_at"},
		{target: "/v1/channels", by: "created_at"},
		{target: "/v1/identities", by: "created_at"},
		{target: "/v1/tracking-domains", by: "created_at"},
		{target: "/v1/templates"},
	}
}

// monthAgo is replaced in a path by the time 30 days before the product's clock.
const monthAgo = "{month ago}"

// rows returns the items of all pages of a list, which it reads by following next_cursor.
func (a *api) rows(t *testing.T, target string) []map[string]any {
	t.Helper()
	var all []map[string]any
	walk(t, a, target, func(got *answer) {
		var page struct{ Data []map[string]any }
		got.decode(&page)
		all = append(all, page.Data...)
	})
	return all
}

// first returns the first item of a list. It fails the test if the list is empty.
func (a *api) first(t *testing.T, target string) map[string]any {
	t.Helper()
	all := a.rows(t, target)
	if len(all) == 0 {
		t.Fatalf("%s has no item", target)
	}
	return all[0]
}

// TestReadsAreTheWholeInOrder reads each list route about sending with several page sizes.
// The links between pages must lead through all rows that match the filters, in order and
// each once.
func TestReadsAreTheWholeInOrder(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		from := url.QueryEscape(p.Clock.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339))
		some := a.rows(t, "/v1/suppressions?reason=bounce&limit=200")
		if len(some) == 0 {
			t.Fatal("nobody is suppressed for a bounce")
		}
		for _, list := range readsInOrder(some[0]["email"].(string)) {
			target := strings.ReplaceAll(list.target, monthAgo, from)
			with := func(limit string) string {
				if strings.Contains(target, "?") {
					return target + "&limit=" + limit
				}
				return target + "?limit=" + limit
			}
			whole := a.rows(t, with("200"))
			if len(whole) == 0 {
				t.Errorf("%s is empty", target)
			}
			for _, limit := range []string{"3", "7"} {
				if diff := gocmp.Diff(whole, a.rows(t, with(limit))); diff != "" {
					t.Errorf("%s (-200 a page +%s a page):\n%.2000s", target, limit, diff)
				}
			}
			if list.by != "" && !slices.IsSortedFunc(whole, list.compare) {
				t.Errorf("%s is not in the order of %s", target, list.by)
			}
		}
	})
}

// compare compares two rows by their member l.by, which has a time. The newer row comes
// first.
func (l orderedRoute) compare(x, y map[string]any) int {
	at := func(row map[string]any) time.Time {
		parsed, _ := time.Parse(time.RFC3339Nano, row[l.by].(string))
		return parsed
	}
	return at(y).Compare(at(x))
}
