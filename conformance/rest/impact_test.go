package rest_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/segments"
)

// segmentState has the members of a segment that both the REST API and the MCP tools
// return.
type segmentState struct {
	ID, Key, Status string
	Warning         string `json:"eval_warning"`
	WarningAt       string `json:"eval_warning_at"`
	Members         int    `json:"member_count"`
}

// segmentOn returns the demo's segment good-customers. It checks that the REST route and
// the MCP tool return the same state. agent is the access token for the tool.
func (a *api) segmentOn(t *testing.T, agent string) segmentState {
	t.Helper()
	var route segmentState
	a.do(t, "GET", "/v1/segments/good-customers", "").want(200).decode(&route)
	var tool struct{ Items []segmentState }
	a.callTool(t, agent, "segments_list", `{"query":"good-customers"}`).decode(&tool)
	if len(tool.Items) != 1 || tool.Items[0].Status != route.Status || tool.Items[0].Warning != route.Warning || tool.Items[0].Members != route.Members {
		t.Errorf("the route shows %+v, the tool %+v", route, tool.Items)
	}
	return route
}

func (a *api) attributeID(t *testing.T, name string) string {
	t.Helper()
	var all struct{ Data []struct{ ID, Name string } }
	a.do(t, "GET", "/v1/attributes?limit=200", "").want(200).decode(&all)
	for _, attribute := range all.Data {
		if attribute.Name == name {
			return attribute.ID
		}
	}
	t.Fatalf("there is no attribute %s", name)
	return ""
}

// TestAChangeOfTheRegistryReachesSegments renames an attribute. The preview and the change
// must return the segment that tests the attribute. The change must make this segment
// invalid, with a warning in REST and MCP, and keep its members. When the attribute has its
// old name again, the segment must be active without a warning.
func TestAChangeOfTheRegistryReachesSegments(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a, agent, divided := on(t, p), p.Token(t, p.MCPURL), newSegments(p)
		must(t, divided.Follow(t.Context(), p.OrgID))
		before := a.segmentOn(t, agent)
		path := "/v1/attributes/" + a.attributeID(t, "orders")
		change := func(method, path, body string) effect {
			t.Helper()
			var e effect
			a.do(t, method, path, body).want(200).decode(&e)
			return e
		}
		affects := func(e effect, class string, compiles bool) {
			t.Helper()
			if e.MutationClass != class || e.Impact == nil || len(e.Impact.AffectedSegments) != 1 {
				t.Errorf("%+v", e)
				return
			}
			if s := e.Impact.AffectedSegments[0]; s.ID != before.ID || s.Name != "Good customers" || s.TypecheckOK != compiles || s.Warning == "" || e.Impact.ProjectedDropout == 0 {
				t.Errorf("%+v", e.Impact)
			}
		}
		const renamed = `{"name":"order_count","type":"number"}`
		affects(change("POST", path+"/preview", renamed), "disruptive", false)
		if seen := a.segmentOn(t, agent); seen != before || seen.Warning != "" {
			t.Errorf("a preview made it %+v", seen)
		}
		affects(change("PUT", path, renamed), "disruptive", false)
		frozen := a.segmentOn(t, agent)
		if frozen.Status != "invalid" || frozen.Warning == "" || frozen.WarningAt == "" || frozen.Members != before.Members {
			t.Errorf("it is %+v, was %+v", frozen, before)
		}
		// A new contact that matches the predicate of the invalid segment does not become a
		// member.
		a.do(t, "POST", "/v1/contacts", `{"email":"frozen@example.com","attributes":{"spent_eur":5000}}`).want(201)
		isMember := func(want string) {
			t.Helper()
			must(t, divided.Follow(t.Context(), p.OrgID))
			if got := a.do(t, "GET", "/v1/segments/good-customers/members/frozen%40example.com", "").want(200); strings.TrimSpace(string(got.body)) != `{"is_member":`+want+`}` {
				t.Errorf("%s, want %s", got.body, want)
			}
		}
		isMember("false")
		// After the attribute has its old name again, the segment is active. No values were
		// lost, so it has no warning.
		change("PUT", path, `{"name":"orders","type":"number"}`)
		isMember("true")
		if repaired := a.segmentOn(t, agent); repaired.Status != "active" || repaired.Warning != "" || repaired.WarningAt != "" {
			t.Errorf("repaired it is %+v", repaired)
		}
		_, err := divided.Save(t.Context(), p.OrgID, segments.Definition{Key: "good-customers", Name: "Good customers", Source: `attr.spent_eur >= 300`, Origin: segments.Managed})
		must(t, err)
		if saved := a.segmentOn(t, agent); saved.Warning != "" || saved.WarningAt != "" {
			t.Errorf("saved it is %+v", saved)
		}
	})
}

// TestDefinitionsOfARepositoryAreReadOnly checks that an attribute or activity property
// that a Git repository defines can be neither changed nor deleted over the API. A preview
// of the change is allowed.
func TestDefinitionsOfARepositoryAreReadOnly(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, now := on(t, p), p.Clock.Now()
		attribute := attributes.Attribute{ID: core.NewID(), Name: "from_git", Type: attributes.String, Origin: core.GitOrigin, CreatedAt: now, UpdatedAt: now}
		property := activities.Property{ID: core.NewID(), ActivityName: "a", Property: "p", Type: activities.NumberProperty, Origin: activities.Git, CreatedAt: now, UpdatedAt: now}
		must(t, p.DB.Attributes().InsertAttribute(t.Context(), p.OrgID, attribute))
		must(t, p.DB.ActivityProperties().InsertProperty(t.Context(), p.OrgID, property))
		for path, body := range map[string]string{
			"/v1/attributes/" + attribute.ID: `{"name":"from_git","type":"number"}`, "/v1/activity-properties/" + property.ID: `{"activity_name":"a","property":"p","type":"string"}`,
		} {
			a.do(t, "PUT", path, body).refused(409, core.CodeConflict)
			a.do(t, "DELETE", path, "").refused(409, core.CodeConflict)
			var seen struct{ Origin string }
			if a.do(t, "GET", path, "").want(200).decode(&seen); seen.Origin != "git" {
				t.Errorf("%s: %+v", path, seen)
			}
			var e effect
			if a.do(t, "POST", path+"/preview", body).want(200).decode(&e); e.MutationClass != "disruptive" || e.Impact == nil {
				t.Errorf("%s: %+v", path, e)
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
