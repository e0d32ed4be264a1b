package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
)

// newSegments returns the segments of the product, for tests that evaluate them directly
// instead of waiting for jobs.
func newSegments(p *product.Product) *segments.Segments {
	return segments.New(segments.Config{
		Store: p.DB.Segments(), Members: p.DB.SegmentMembers(), Changes: p.DB.SegmentChanges(), Transactor: p.DB, Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler), PreviewTime: time.Second,
	})
}

// TestMembersOfASegment checks that contacts enter and leave a segment when they change,
// and that pages of any size have each member once.
func TestMembersOfASegment(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a, agent, divided := on(t, p), p.Token(t, p.MCPURL), newSegments(p)
		const members = "/v1/segments/good-customers/members"
		contact := a.do(t, "POST", "/v1/contacts", `{"email":"rich@example.com","attributes":{"spent_eur":5000}}`).want(201).contact()
		is := func(want bool) {
			t.Helper()
			must(t, divided.Follow(t.Context(), p.OrgID))
			for _, name := range []string{contact.ID, "rich%40example.com", "RICH%40Example.com"} {
				if got := a.do(t, "GET", members+"/"+name, "").want(200); strings.TrimSpace(string(got.body)) != fmt.Sprintf(`{"is_member":%t}`, want) {
					t.Errorf("%s: %s, want %t", name, got.body, want)
				}
			}
			var seen struct {
				Segments int `json:"segments_count"`
			}
			if a.callTool(t, agent, "contacts_lookup", `{"email":"rich@example.com"}`).decode(&seen); (seen.Segments == 1) != want {
				t.Errorf("the tool counts %d segments, want %t", seen.Segments, want)
			}
		}
		is(true)
		var segment segmentState
		a.do(t, "GET", "/v1/segments/good-customers", "").want(200).decode(&segment)
		for _, limit := range []int{7, 50, 200} {
			seen := map[string]bool{}
			walk(t, a, fmt.Sprintf("%s?limit=%d", members, limit), func(got *answer) {
				var page struct {
					Data []struct {
						Contact string    `json:"contact_id"`
						Entered time.Time `json:"entered_at"`
						Email   string
					}
				}
				got.decode(&page)
				for _, member := range page.Data {
					if seen[member.Contact] || !core.IsID(member.Contact) || member.Entered.IsZero() || member.Email == "" {
						t.Errorf("%+v is there twice or lacks something", member)
					}
					seen[member.Contact] = true
				}
			})
			if len(seen) != segment.Members || !seen[contact.ID] {
				t.Errorf("pages of %d have %d of %d", limit, len(seen), segment.Members)
			}
		}
		a.do(t, "PATCH", "/v1/contacts/rich%40example.com", `{"attributes":{"spent_eur":null}}`).want(200)
		is(false)
		a.do(t, "PATCH", "/v1/contacts/rich%40example.com", `{"attributes":{"orders":10}}`).want(200)
		is(true)
		a.do(t, "DELETE", "/v1/contacts/rich%40example.com", "").want(204)
		is(false)
	})
}

// TestPausedSegmentsKeepTheirMembers checks that a paused segment keeps its members and gets
// no new one. When it is active again, it gets those that it missed.
func TestPausedSegmentsKeepTheirMembers(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a, agent, divided := on(t, p), p.Token(t, p.MCPURL), newSegments(p)
		id := a.segmentOn(t, agent).ID
		for _, step := range []struct {
			status  segments.Status
			created string
			members map[string]bool
		}{
			{segments.Active, "before", map[string]bool{"before": true}},
			{segments.Paused, "during", map[string]bool{"before": true, "during": false}},
			{segments.Active, "after", map[string]bool{"before": true, "during": true, "after": true}},
		} {
			_, err := divided.SetStatus(t.Context(), p.OrgID, id, step.status)
			must(t, err)
			a.do(t, "POST", "/v1/contacts", `{"email":"`+step.created+`@example.com","attributes":{"spent_eur":5000}}`).want(201)
			must(t, divided.Follow(t.Context(), p.OrgID))
			if got := a.segmentOn(t, agent).Status; got != string(step.status) {
				t.Errorf("status %s, want %s", got, step.status)
			}
			for name, is := range step.members {
				var got struct {
					IsMember bool `json:"is_member"`
				}
				if a.do(t, "GET", "/v1/segments/"+id+"/members/"+name+"@example.com", "").want(200).decode(&got); got.IsMember != is {
					t.Errorf("%s, created %s: member %t, want %t", step.status, name, got.IsMember, is)
				}
			}
		}
	})
}

// TestPagesOfDefinitions reads the lists of attributes and of promoted properties in pages
// of several sizes. The pages of a list must contain each entry once, newest first.
func TestPagesOfDefinitions(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		for i := range 12 {
			a.do(t, "POST", "/v1/attributes", fmt.Sprintf(`{"name":"page_%d","type":"bool"}`, i)).want(201)
			a.do(t, "POST", "/v1/activity-properties", fmt.Sprintf(`{"activity_name":"page","property":"p%d","type":"bool"}`, i)).want(201)
		}
		for target, name := range map[string]string{"/v1/attributes": "name", "/v1/activity-properties": "property"} {
			var whole []string
			for _, limit := range []int{200, 5, 1} {
				var all []string
				walk(t, a, fmt.Sprintf("%s?limit=%d", target, limit), func(got *answer) {
					var page struct{ Data []map[string]any }
					if err := json.Unmarshal(got.body, &page); err != nil {
						t.Fatal(err)
					}
					for _, one := range page.Data {
						all = append(all, fmt.Sprint(one[name]))
					}
				})
				if whole == nil {
					whole = all
				}
				if strings.Join(all, " ") != strings.Join(whole, " ") || len(all) < 12 || !strings.HasSuffix(all[0], "11") || !strings.HasSuffix(all[11], "0") {
					t.Errorf("%s by %d: %v, want %v", target, limit, all, whole)
				}
			}
		}
	})
}

// TestARepositorysSegmentTakesThePlaceOfAManagedOne checks that a segment defined in a Git
// repository replaces a segment with the same key that was defined in Mailhelm. The reverse
// must fail with a conflict. A segment that is archived must keep its members, and
// predicates must not be able to test it.
func TestARepositorysSegmentTakesThePlaceOfAManagedOne(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent, divided := on(t, p), p.Token(t, p.MCPURL), newSegments(p)
		must(t, divided.Follow(t.Context(), p.OrgID))
		before := a.segmentOn(t, agent)
		managed := segments.Definition{Key: "good-customers", Name: "Good customers", Source: `attr.spent_eur >= 300 or attr.orders >= 10`, Origin: segments.Managed}
		ours := managed
		ours.Origin, ours.SourcePath = segments.Git, "segments/good-customers.seg"
		_, err := divided.Save(t.Context(), p.OrgID, ours)
		must(t, err)
		var seen struct {
			ID, Origin string
			SourcePath string `json:"source_path"`
		}
		if a.do(t, "GET", "/v1/segments/good-customers", "").want(200).decode(&seen); seen.ID != before.ID || seen.Origin != "git" || seen.SourcePath != ours.SourcePath {
			t.Errorf("%+v", seen)
		}
		if _, err = divided.Save(t.Context(), p.OrgID, managed); err == nil || core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a managed one over the repository's: %v", err)
		}
		_, err = divided.SetStatus(t.Context(), p.OrgID, before.ID, segments.Archived)
		must(t, err)
		must(t, divided.Follow(t.Context(), p.OrgID))
		if archived := a.segmentOn(t, agent); archived.Status != "archived" || archived.Members != before.Members || before.Members == 0 {
			t.Errorf("archived it is %+v, was %+v", archived, before)
		}
		if tool := a.callTool(t, agent, "segments_preview_predicate", `{"source":"in segment \"good-customers\""}`); !strings.Contains(string(tool.body), `is archived; restore it`) {
			t.Errorf("an archived segment may be tested: %s", tool.body)
		}
		if route := a.do(t, "POST", "/v1/segments/preview", `{"source":"in segment \"good-customers\""}`).want(422); !strings.Contains(string(route.body), `is archived; restore it`) {
			t.Errorf("over REST: %s", route.body)
		}
	})
}
