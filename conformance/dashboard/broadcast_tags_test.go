package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestTagsOfBroadcasts creates a tag on the dashboard, gives it to one of two drafts, and
// filters broadcasts by it on the dashboard and over REST. It then deletes the broadcast.
func TestTagsOfBroadcasts(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		b, few := owner(t, p), newAudience(t, p, 1)
		tagged, page := b.compose(few, unchanged)
		other, _ := b.compose(few, func(form url.Values) { form.Set("name", "Closing hours") })
		b.wants(page, tagged+"/tags", "None")
		b.submit(b.open("/dashboard/tags/new"), "/dashboard/tags/new", func(form url.Values) { form.Set("name", "Spring & news") })
		page = b.submit(b.open(tagged+"/tags"), tagged+"/tags", func(form url.Values) { form.Set("tags", tagIDs(t, p)[0]) })
		b.wants(page, "Spring &amp; news", "Edit tags")
		list := b.open("/dashboard/broadcasts?tag=" + url.QueryEscape("Spring & news"))
		b.wants(list, "With the tag", "Opening hours")
		b.lacks(list, "Closing hours")
		b.wants(b.open("/dashboard/audit"), "Tags of a broadcast changed")

		id := func(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
		for query, want := range map[string][]string{
			"tag=" + url.QueryEscape("Spring & news"): {id(tagged)},
			"tag=Spring":     nil,
			"untagged=true":  {id(other)},
			"untagged=false": {id(other), id(tagged)},
		} {
			isOther := func(found string) bool { return found != id(tagged) && found != id(other) } // the demo's
			if got := slices.DeleteFunc(listed(t, p, "/v1/broadcasts?"+query), isOther); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		if answer := readAs(t, p, "/v1/broadcasts?tag=x&untagged=true"); answer.Status != http.StatusUnprocessableEntity {
			t.Errorf("filters that exclude each other: %d %s", answer.Status, answer.Body)
		}
		if answer := readAs(t, p, "/v1/tags"); !strings.Contains(answer.Body, `"broadcast_count":1`) {
			t.Errorf("tags: %s", answer.Body)
		}
		b.submit(b.open(tagged+"/delete"), tagged+"/delete", unchanged)
		if answer := readAs(t, p, "/v1/tags"); !strings.Contains(answer.Body, `"broadcast_count":0`) {
			t.Errorf("tags after the broadcast is deleted: %s", answer.Body)
		}
	})
}

// readAs reads a path of the API with the live key.
func readAs(t *testing.T, p *product.Product, path string) product.Answer {
	t.Helper()
	return p.Send(t, product.Request{Method: http.MethodGet, URL: p.BaseURL + path, Bearer: p.Live.APIKey})
}

// listed returns the ids of the items that a path of the API lists.
func listed(t *testing.T, p *product.Product, path string) []string {
	t.Helper()
	answer := readAs(t, p, path)
	var page struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(answer.Body), &page); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
	}
	var ids []string
	for _, item := range page.Data {
		ids = append(ids, item.ID)
	}
	return ids
}

// tagIDs returns the ids of the organization's tags.
func tagIDs(t *testing.T, p *product.Product) []string {
	t.Helper()
	return listed(t, p, "/v1/tags")
}
