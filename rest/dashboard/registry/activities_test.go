package registry_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
)

func TestGoldenActivities(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	shown := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	shown("activities", registry.ActivitiesPath)
	shown("activities_filtered", registry.ActivitiesPath+"?since=2026-03-01&until=2026-03-02&name="+url.QueryEscape(hostile))
	shown("activities_refused", registry.ActivitiesPath+"?since="+url.QueryEscape(hostile))
	o.Allow(members.MayViewActivities)
	shown("activities_of_member", registry.ActivitiesPath+"?cursor=x&from=51")
	o.operations.Results["activities_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	shown("activities_none", registry.ActivitiesPath+"?contact=nobody%40example.com")
}

// TestFiltersOfActivities checks the arguments that the filters of the page become, and that
// a visitor without the permission for contacts sees no address.
func TestFiltersOfActivities(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for query, want := range map[string]string{
		"": `{"limit":50}`,
		"?name=purchase&contact=ada%40example.com&cursor=C": `{"contact":"ada@example.com","cursor":"C","limit":50,"name":"purchase"}`,
		"?since=2026-03-01&until=2026-03-01":                `{"from":"2026-03-01T00:00:00Z","limit":50,"to":"2026-03-02T00:00:00Z"}`,
	} {
		o.operations.Calls()
		if status, page := frametest.Get(t, o.pages, registry.ActivitiesPath+query); status != http.StatusOK {
			t.Errorf("%s: %d %s", query, status, page)
		}
		if diff := cmp.Diff([]frametest.CalledOperation{{Name: "activities_list", Arguments: want}}, o.operations.Calls()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if status, _ := frametest.Get(t, o.pages, registry.ActivitiesPath+"?until=tomorrow"); status != http.StatusUnprocessableEntity {
		t.Errorf("an invalid day: %d", status)
	}
	o.asked = nil
	o.Allow(members.MayViewActivities)
	if _, page := frametest.Get(t, o.pages, registry.ActivitiesPath+"?name=x"); strings.Contains(page, "&amp;@example.com") || len(o.asked) != 0 {
		t.Errorf("asked %q and shown:\n%s", o.asked, page)
	}
	o.Allow(members.MayViewContacts)
	if status, _ := frametest.Get(t, o.pages, registry.ActivitiesPath); status != http.StatusForbidden {
		t.Errorf("without the permission: %d", status)
	}
}

// TestDataOfActivities checks that large, deep and invalid data of activities is bounded.
func TestDataOfActivities(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, tc := range map[string]struct{ properties, want string }{
		"wide": {`{"a":[` + strings.TrimSuffix(strings.Repeat(`1,`, 500), ",") + `]}`, "Values not shown: 301."},
		"deep": {strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "Values not shown: 28."},
	} {
		o.operations.Results["activities_list"] = `{"data":[{` + happened + `,"properties":` + tc.properties + `}],"pagination":{"has_more":false,"next_cursor":null}}`
		if _, page := frametest.Get(t, o.pages, registry.ActivitiesPath+"?name=x"); !strings.Contains(page, tc.want) || len(page) > 100_000 {
			t.Errorf("%s: %d bytes:\n%.3000s", name, len(page), page)
		}
	}
}
