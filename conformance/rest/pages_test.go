package rest_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// walk reads all pages of a list by following the links, and calls visit with each
// response. It returns the number of pages.
func walk(t *testing.T, a *api, target string, visit func(*answer)) int {
	t.Helper()
	pages := 0
	for target != "" {
		if pages++; pages > 1000 {
			t.Fatal("the pages do not end")
		}
		got := a.do(t, "GET", target, "").want(200)
		visit(got)
		link := got.header.Get("Link")
		if more := got.page().Pagination; (link != "") != more.HasMore || more.HasMore != (more.NextCursor != nil) {
			t.Fatalf("%s: Link %q, pagination %+v", target, link, more)
		}
		target = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if target != "" && !strings.HasPrefix(target, a.BaseURL+"/v1/") {
			t.Fatalf("Link = %q", link)
		}
	}
	return pages
}

func emails(t *testing.T, a *api, target string) []string {
	t.Helper()
	var all []string
	walk(t, a, target, func(got *answer) {
		for _, c := range got.page().Data {
			all = append(all, c.Email)
		}
	})
	return all
}

// TestPagesAreTheWhole checks that for every page size the links lead through all contacts,
// in the same order and each once, on both databases.
func TestPagesAreTheWhole(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		whole := emails(t, a, "/v1/contacts?limit=200")
		if len(whole) != 500 {
			t.Errorf("%d contacts, want the 500 of the demo", len(whole))
		}
		seen := map[string]bool{}
		for _, email := range whole {
			if seen[email] {
				t.Errorf("%s is there twice", email)
			}
			seen[email] = true
		}
		for _, target := range []string{"/v1/contacts", "/v1/contacts?limit=37", "/v1/contacts?limit=100"} {
			if diff := cmp.Diff(whole, emails(t, a, target)); diff != "" {
				t.Errorf("%s (-200 a page +this):\n%s", target, diff)
			}
		}
	})
}

// TestFiltersSurviveTheLinks checks that the links of a filtered page contain the filter.
func TestFiltersSurviveTheLinks(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		for _, filter := range []string{
			"unsubscribe_all=true",
			"unsubscribe_all=false",
			"topic=offers",
			"topic=offers&subscription_status=OPT_IN",
			"attribute_key=city&attribute_value=" + url.QueryEscape("Porto"),
			"attribute_key=wholesale&attribute_value=true",
		} {
			whole := emails(t, a, "/v1/contacts?limit=200&"+filter)
			if diff := cmp.Diff(whole, emails(t, a, "/v1/contacts?"+filter+"&limit=7")); diff != "" {
				t.Errorf("%s (-200 a page +7 a page):\n%s", filter, diff)
			}
		}
		all := len(emails(t, a, "/v1/contacts?limit=200"))
		out, in := len(emails(t, a, "/v1/contacts?limit=200&unsubscribe_all=true")), len(emails(t, a, "/v1/contacts?limit=200&unsubscribe_all=false"))
		if out == 0 || out+in != all {
			t.Errorf("%d opted out and %d not, of %d", out, in, all)
		}
	})
}

// TestPagesWhileContactsArrive creates contacts while a caller reads pages. It checks that
// each contact that existed before is read exactly once.
func TestPagesWhileContactsArrive(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		before := emails(t, a, "/v1/contacts?limit=200")
		var during []string
		late := 0
		walk(t, a, "/v1/contacts?limit=150", func(got *answer) {
			for _, c := range got.page().Data {
				during = append(during, c.Email)
			}
			late++
			a.do(t, "PUT", "/v1/contacts/late"+strconv.Itoa(late)+"%40example.com", `{}`).want(201)
		})
		if diff := cmp.Diff(before, during); diff != "" {
			t.Errorf("contacts (-before +during):\n%s", diff)
		}
	})
}

func TestOtherListsArePaged(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	for target, want := range map[string]int{"/v1/lists": 4, "/v1/attributes": 8} {
		var ids []string
		pages := walk(t, a, target+"?limit=1", func(got *answer) {
			for _, row := range got.page().Data {
				ids = append(ids, row.ID)
			}
		})
		seen := map[string]bool{}
		for _, id := range ids {
			seen[id] = true
		}
		if pages != want || len(seen) != want {
			t.Errorf("%s: %d pages with %d rows, want %d", target, pages, len(seen), want)
		}
	}
	var topics struct{ Data []any }
	a.do(t, "GET", "/v1/topics", "").want(200).decode(&topics)
	if len(topics.Data) != 5 {
		t.Errorf("%d topics, want 5", len(topics.Data))
	}
}
