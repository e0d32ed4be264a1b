package registry_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// The ids of the records in the prepared results.
const (
	planID     = "0198c0de-0000-7000-8000-000000000001"
	cityID     = "0198c0de-0000-7000-8000-000000000002"
	gitID      = "0198c0de-0000-7000-8000-000000000003"
	propertyID = "0198c0de-0000-7000-8000-000000000004"
	segmentID  = "0198c0de-0000-7000-8000-000000000005"
)

// hostile is a text that breaks pages which do not escape it, and that reorders the text
// around it. escaped is its JSON.
const (
	hostile = "</td><script>alert(1)</script>\"'&\u202e"
	escaped = `<\/td><script>alert(1)<\/script>\"'&\u202e`
)

// JSON texts of records, as operations return them.
const (
	times    = `"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-12T14:30:00Z"`
	plan     = `"id":"` + planID + `","name":"plan","type":"enum","enum_values":["free","` + escaped + `","pro"],"description":"` + escaped + `","origin":"managed",` + times
	city     = `"id":"` + cityID + `","name":"city","type":"string","origin":"managed",` + times
	ofGit    = `"id":"` + gitID + `","name":"tier","type":"number","origin":"git",` + times
	promoted = `"id":"` + propertyID + `","activity_name":"` + escaped + `","property":"amount","type":"number","description":"` + escaped + `","origin":"managed",` + times
	happened = `"activity_id":"` + propertyID + `","contact_id":"` + cityID + `","name":"` + escaped + `","occurred_at":"2026-03-12T15:00:00Z","received_at":"2026-03-12T15:10:00Z","source":"site"`
	affected = `[{"id":"` + segmentID + `","name":"` + escaped + `","typecheck_ok":false,"warning":"It no longer compiles: ` + escaped + `"}]`
)

// domains implements the interfaces of registry.Config with fixed answers. It records the
// organization that it was asked for.
type domains struct {
	progress attributes.Progress
	asked    []string
}

func (d *domains) note(what, orgID, id string) { d.asked = append(d.asked, what+" "+orgID+" "+id) }

func (d *domains) PreviewDelete(_ context.Context, orgID, id string) (attributes.Effect, error) {
	d.note("delete", orgID, id)
	return attributes.Effect{MutationClass: attributes.Disruptive, Impact: &attributes.Impact{
		ProjectedDropout: 12345, AffectedSegments: []attributes.AffectedSegment{{ID: segmentID, Name: hostile, Warning: hostile}},
	}}, nil
}

func (d *domains) PassProgress(context.Context, string) (attributes.Progress, error) {
	return d.progress, nil
}

func (d *domains) PreviewPropertyDelete(_ context.Context, orgID, id string) (activities.Mutation, error) {
	d.note("end", orgID, id)
	return activities.Mutation{MutationClass: activities.Disruptive, Impact: &activities.Impact{AffectedSegments: []activities.AffectedSegment{}}}, nil
}

func (d *domains) Uses(context.Context, string) ([]segments.Use, error) {
	return []segments.Use{{ID: segmentID, Name: hostile, References: predicate.References{
		Attributes: []string{"plan"}, Properties: []predicate.ActivityProperty{{Activity: hostile, Property: "amount"}},
	}}}, nil
}

func (d *domains) DailyCounts(_ context.Context, orgID string, retentionDays, days int) ([]activities.DayCount, bool, error) {
	d.note("count", orgID, "")
	today := frametest.Now().Truncate(24 * time.Hour)
	return []activities.DayCount{
		{Day: today, Name: hostile, Count: retentionDays},
		{Day: today.AddDate(0, 0, 1-days), Name: "login", Count: 7},
		{Day: today, Name: "purchase", Count: 2},
		{Day: today.AddDate(0, 0, 1), Name: "purchase", Count: 1},
		{Day: today, Name: "visit", Count: 1},
	}, true, nil
}

func (d *domains) ContactAddresses(_ context.Context, orgID string, ids []string) (map[string]string, error) {
	d.note("addresses", orgID, strings.Join(ids, ","))
	return map[string]string{cityID: hostile + "@example.com"}, nil
}

// office is an organization whose operations have prepared results.
type office struct {
	*frametest.Office
	domains
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Group: "Audience", Path: registry.AttributesPath, Name: "Attributes"}, frame.Area{Group: "Audience", Path: registry.ActivitiesPath, Name: "Activities"})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"attributes_list":    `{"data":[{` + plan + `},{` + ofGit + `},{` + city + `}],"pagination":{"has_more":false,"next_cursor":null}}`,
		"attributes_get":     `{` + plan + `}`,
		"attributes_create":  `{` + plan + `}`,
		"attributes_preview": `{"mutation_class":"disruptive","impact":{"projected_dropout":12345,"affected_segments":` + affected + `}}`,
		"attributes_update":  `{` + plan + `,"mutation_class":"free"}`,
		"attributes_delete":  `{"mutation_class":"disruptive","impact":{"projected_dropout":0,"affected_segments":[]}}`,
		"activities_list": `{"data":[{` + happened + `,"properties":{"` + escaped + `":"` + escaped + `","amount":12.50,"big":9007199254740991,"paid":true,"none":null,"items":[{"sku":"a"},[],{}]}},` +
			`{` + happened + `,"properties":{}}],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
		"activity_properties_list":    `{"data":[{` + promoted + `}],"pagination":{"has_more":false,"next_cursor":null}}`,
		"activity_properties_get":     `{` + promoted + `}`,
		"activity_properties_create":  `{` + promoted + `}`,
		"activity_properties_preview": `{"mutation_class":"free"}`,
		"activity_properties_replace": `{` + promoted + `,"mutation_class":"free"}`,
		"activity_properties_delete":  `{"mutation_class":"disruptive","impact":{"projected_dropout":0,"affected_segments":[]}}`,
	}, Errors: map[string]*core.Error{}}
	o.Frame.Operations = o.operations
	room, err := registry.New(o.Frame, registry.Config{
		Attributes: &o.domains, Activities: &o.domains, Segments: &o.domains,
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// send posts a form and returns the address to which the answer redirects.
func (o *office) send(path string, form url.Values) string {
	o.T.Helper()
	form.Set("token", o.Site.Visitor.FormToken("dashboard\x00"+path))
	r := httptest.NewRequestWithContext(o.T.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, r)
	return w.Header().Get("Location")
}

// marshal returns the JSON of a text.
func marshal(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
