package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// results returns the results in the answer of POST /v1/activities, one for each item. It
// fails the test unless the status is 202.
func results(t *testing.T, ans *answer) []map[string]any {
	t.Helper()
	var body struct{ Data []map[string]any }
	if err := json.Unmarshal(ans.want(202).body, &body); err != nil {
		t.Fatal(err)
	}
	return body.Data
}

func TestActivitiesOverREST(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const one = `{"name":"paid","email":"new@example.com","properties":{ "b":1.0, "a":"<é\u2028>" }}`
		single := results(t, a.do(t, "POST", "/v1/activities", one))
		if len(single) != 1 || single[0]["status"] != "accepted" || single[0]["index"] != 0.0 {
			t.Fatalf("%v", single)
		}
		several := results(t, a.do(t, "POST", "/v1/activities", " ["+one+`,{"name":"x"}] `))
		if len(several) != 2 || several[1]["reason"] != "missing_identity" || several[0]["contact_id"] != single[0]["contact_id"] {
			t.Errorf("%v", several)
		}
		page := a.do(t, "GET", "/v1/activities?contact=new%40example.com&limit=1", "").want(200)
		if !strings.Contains(string(page.body), `"properties":{ "b":1.0, "a":"<é\u2028>" }`) || page.header.Get("Link") == "" {
			t.Errorf("%s %v", page.body, page.header)
		}
		contact := fmt.Sprint(single[0]["contact_id"])
		for _, of := range []string{contact, "new%40example.com"} {
			a.do(t, "GET", "/v1/contacts/"+of+"/activities?name=paid", "").want(200)
			summary := a.do(t, "GET", "/v1/contacts/"+of+"/activities/summary", "").want(200)
			if !strings.Contains(string(summary.body), `"count_total":2`) {
				t.Errorf("%s", summary.body)
			}
		}
		a.do(t, "GET", "/v1/contacts/"+core.NewID()+"/activities", "").refused(404, core.CodeNotFound)
		a.do(t, "GET", "/v1/contacts/nobody/activities/summary", "").refused(404, core.CodeNotFound)
		if empty := a.do(t, "GET", "/v1/activities?contact=nobody", "").want(200); !strings.HasPrefix(string(empty.body), `{"data":[],`) {
			t.Errorf("%s", empty.body)
		}
		other := a.as(a.Other.Live.APIKey)
		if theirs := other.do(t, "GET", "/v1/activities?contact="+contact, "").want(200); !strings.HasPrefix(string(theirs.body), `{"data":[],`) {
			t.Errorf("another organization reads %s", theirs.body)
		}
		other.do(t, "GET", "/v1/contacts/"+contact+"/activities", "").refused(404, core.CodeNotFound)

		// The first activity of an unknown address creates a stub (an incomplete contact),
		// which can be read. POST /v1/contacts with the address completes the stub, and keeps
		// its id.
		a.do(t, "GET", "/v1/contacts/new%40example.com", "").want(200)
		if made := a.do(t, "POST", "/v1/contacts", `{"email":"new@example.com"}`).want(201); !strings.Contains(string(made.body), contact) {
			t.Errorf("another contact was made: %s", made.body)
		}
	})
}

func TestActivityRequestsAreRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		item := `{"name":"a","email":"a@example.com"}`
		for _, body := range []string{
			``, ` `, `[]`, `null`, `1`, `"a"`, `{`, `[`, `[` + item, item + `,` + item, item + `]`, `[` + item + `],"x":1`, `[` + item + `]}`,
			`[` + item + `][` + item + `]`,
			"[" + item + "]\x00", "{\"name\":\"\xff\"}", strings.Repeat("[", 100_000), `[` + strings.Repeat(item+`,`, 1000) + item + `]`,
			`{"name":"a","email":"a@example.com","properties":"` + strings.Repeat("x", 1<<20) + `"}`,
		} {
			r := a.request(t, "POST", "/v1/activities", body, "Content-Type", "application/json")
			ans := a.send(t, r)
			if ans.status != 422 {
				t.Errorf("%.60q: %d %.200s", body, ans.status, ans.body)
				continue
			}
			ans.refused(422, core.CodeValidationFailed)
		}
		for body, fault := range map[string]core.FieldError{
			`[]`: {Field: "", Reason: "must have at least 1 items"}, `[` + item + `,{"name":"a" 1}]`: {Field: "1", Reason: "is not valid JSON at this member"},
		} {
			if problem := a.do(t, "POST", "/v1/activities", body).refused(422, core.CodeValidationFailed); len(problem.Errors) != 1 || problem.Errors[0] != fault {
				t.Errorf("%s: %+v", body, problem)
			}
		}
		a.do(t, "POST", "/v1/activities?x=1", item).refused(422, core.CodeValidationFailed)
		if got := a.do(t, "GET", "/v1/activities", "").want(200); !strings.HasPrefix(string(got.body), `{"data":[],`) {
			t.Errorf("something was taken in: %s", got.body)
		}
		full := `[` + strings.Repeat(item+`,`, 999) + item + `]`
		if got := results(t, a.do(t, "POST", "/v1/activities", full)); len(got) != 1000 || got[999]["index"] != 999.0 {
			t.Errorf("%d results", len(got))
		}
	})
}

// TestActivityBodiesFitTheirSchema checks that POST /v1/activities refuses every body that
// the schema in the OpenAPI document does not allow, and takes every body that it allows.
func TestActivityBodiesFitTheirSchema(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		schema := a.description.schema(t, "#/paths/~1v1~1activities/post/requestBody/content/application~1json/schema")
		const item = `{"name":"a","email":"a@example.com"}`
		for body, taken := range map[string]bool{
			item: true, `{}`: true, `[` + item + `]`: true, `[null,1,"a",[],` + item + `]`: true, `[` + strings.Repeat(item+`,`, 999) + item + `]`: true,
			`null`: false, `1`: false, `"a"`: false, `true`: false, `[]`: false, `[` + strings.Repeat(item+`,`, 1000) + item + `]`: false,
		} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); (err == nil) != taken {
				t.Errorf("%.60s: the schema says %v, want allowed: %t", body, err, taken)
			}
			want := http.StatusUnprocessableEntity
			if taken {
				want = http.StatusAccepted
			}
			a.do(t, "POST", "/v1/activities", body).want(want)
		}
	})
}

// TestInvalidActivitiesAreRejectedAlone sends valid and invalid activities together. Each
// invalid item must be rejected with a reason, and the valid items must be recorded. The
// tool must return the same results as the route. A repeated tool call is answered as a
// replay and records nothing.
func TestInvalidActivitiesAreRejectedAlone(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		const good = `{"name":"good","email":"a@example.com","properties":{"twice":1,"twice":2}}`
		invalid := []struct{ item, detail string }{
			{`1`, "The item is not an object."},
			{`null`, "The item is not an object."},
			{`[` + good + `]`, "The item is not an object."},
			{`{"name":null,"email":"a@example.com"}`, "`name` is null"},
			{`{"name":1}`, "`name` must be a string."},
			{`{"title":"a"}`, "`title` is unknown; known names are name, "},
			{`{"activities":[{"name":"good"}]}`, "`activities` is unknown"},
			{`{"name":"a","name":"b","email":"a@example.com"}`, "`name` names a member twice"},
			{`{"name":"a","email":"a@example.com","occurred_at":"now"}`, "`occurred_at` is \"now\"; send "},
			{`{"name":"a","email":"a@example.com","occurred_at":"` + a.Clock.Now().Add(time.Hour).Format(time.RFC3339) + `"}`, "`occurred_at` is " + a.Clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
			{`{"name":"a","email":"a@example.com","properties":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "The item is nested deeper"},
		}
		var items []string
		for _, c := range invalid {
			items = append(items, good, c.item)
		}
		body := `[` + strings.Join(items, ",") + `]`
		fromRoute := results(t, a.do(t, "POST", "/v1/activities", body))
		var tool struct {
			Accepted, Rejected int
			Items              []map[string]any
		}
		for range 2 {
			a.callTool(t, agent, "activities_record", `{"activities":`+body+`}`).decode(&tool)
			if tool.Accepted != len(invalid) || tool.Rejected != len(invalid) {
				t.Fatalf("%+v", tool)
			}
		}
		for _, answered := range [][]map[string]any{fromRoute, tool.Items} {
			for i, c := range invalid {
				detail, _ := answered[2*i+1]["detail"].(string)
				if answered[2*i]["status"] != "accepted" || answered[2*i+1]["reason"] != "invalid_item" || answered[2*i+1]["index"] != float64(2*i+1) || !strings.HasPrefix(detail, c.detail) {
					t.Errorf("%.100s: %v, %v", c.item, answered[2*i], answered[2*i+1])
				}
			}
		}
		for _, c := range invalid[3:] { // a request with one object, instead of an array, has the same result
			if single := results(t, a.do(t, "POST", "/v1/activities", c.item)); len(single) != 1 || single[0]["reason"] != "invalid_item" {
				t.Errorf("%.100s alone: %v", c.item, single)
			}
		}
		// The second tool call was answered as a replay. So the route and the tool have each
		// recorded the valid items once.
		var page struct{ Data []map[string]any }
		if a.do(t, "GET", "/v1/activities?limit=200", "").want(200).decode(&page); len(page.Data) != 2*len(invalid) {
			t.Errorf("%d activities", len(page.Data))
		}
	})
}

// TestActivityVolume checks that an organization can record 2,000 activities a minute.
// Further items are rejected with the reason rate_limited, even if other items of the
// request are recorded. One minute later a request with 900 items must be accepted
// completely.
func TestActivityVolume(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		items := `[` + strings.Repeat(`{"name":"a","email":"a@example.com"},`, 899) + `{"name":"b","email":"a@example.com"}]`
		accepted := func(a *api) int {
			n := 0
			for _, item := range results(t, a.do(t, "POST", "/v1/activities", items)) {
				if item["status"] == "accepted" {
					n++
				} else if item["reason"] != "rate_limited" {
					t.Errorf("%v", item)
				}
			}
			return n
		}
		began := a.Clock.Now()
		n := accepted(a) + accepted(a) + accepted(a) + accepted(a)
		// Time passes during the calls, and every 30 ms the rate limit allows one more
		// activity.
		if most := 2000 + int(a.Clock.Now().Sub(began)/(30*time.Millisecond)) + 1; n < 2000 || n > most {
			t.Errorf("%d of 3,600, want 2,000 to %d", n, most)
		}
		// The tool activities_record counts toward the same limit as the route. It returns a
		// result for each item too.
		var tool struct {
			Accepted, Rejected int
			Items              []struct{ Reason string }
		}
		a.callTool(t, p.Token(t, p.MCPURL), "activities_record", `{"activities":[`+strings.TrimSuffix(strings.Repeat(`{"name":"t","email":"a@example.com"},`, 100), ",")+`]}`).decode(&tool)
		if tool.Rejected == 0 || len(tool.Items) != 100 || tool.Items[99].Reason != "rate_limited" {
			t.Errorf("the tool: %+v", tool)
		}
		if n := accepted(a.as(a.Other.Live.APIKey)); n != 900 {
			t.Errorf("another organization: %d", n)
		}
		a.Clock.Advance(time.Minute)
		if n := accepted(a); n != 900 {
			t.Errorf("a minute later: %d", n)
		}
	})
}

// TestActivitiesAreKeptForAYear checks that reads return an activity for a year after it
// was received. An activity with the dedup_mode "once" must count as a duplicate even after
// that year.
func TestActivitiesAreKeptForAYear(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const item = `{"name":"joined","email":"year@example.com","occurred_at":"2020-01-01T00:00:00Z","dedup_mode":"once"}`
		first := results(t, a.do(t, "POST", "/v1/activities", item))[0]
		reads := []string{"/v1/activities?contact=year%40example.com", "/v1/contacts/year%40example.com/activities", "/v1/contacts/year%40example.com/activities/summary"}
		shown := func(want bool) {
			t.Helper()
			for _, path := range reads {
				if got := a.do(t, "GET", path, "").want(200); strings.Contains(string(got.body), `"joined"`) != want {
					t.Errorf("%s: %s", path, got.body)
				}
			}
		}
		shown(true)
		a.Clock.Advance(364 * 24 * time.Hour)
		shown(true)
		a.Clock.Advance(25 * time.Hour)
		shown(false)
		if again := results(t, a.do(t, "POST", "/v1/activities", item))[0]; again["duplicate"] != true || again["activity_id"] != first["activity_id"] {
			t.Errorf("%v, then %v", first, again)
		}
		shown(false)
	})
}

func TestActivityPropertiesOverREST(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		made := a.do(t, "POST", "/v1/activity-properties", `{"activity_name":"paid","property":"amount","type":"number"}`).want(201)
		var defined struct{ ID string }
		if err := json.Unmarshal(made.body, &defined); err != nil {
			t.Fatal(err)
		}
		path := "/v1/activity-properties/" + defined.ID
		a.do(t, "POST", "/v1/activity-properties", `{"activity_name":"paid","property":"amount","type":"string"}`).refused(409, core.CodeConflict)
		a.do(t, "GET", "/v1/activity-properties", "").want(200)
		a.do(t, "GET", path, "").want(200)
		const text = `{"activity_name":"paid","property":"amount","type":"string","description":"Of the order"}`
		for _, call := range []struct{ method, path string }{{"POST", path + "/preview"}, {"PUT", path}} {
			got := a.do(t, call.method, call.path, text).want(200)
			if !strings.Contains(string(got.body), `"mutation_class":"disruptive","impact":{"affected_segments":[],"projected_dropout":0}`) {
				t.Errorf("%s %s", call.method, got.body)
			}
		}
		if got := a.do(t, "PUT", path, text).want(200); !strings.Contains(string(got.body), `"mutation_class":"free"}`) {
			t.Errorf("%s", got.body)
		}
		other := a.as(a.Other.Live.APIKey)
		other.do(t, "GET", path, "").refused(404, core.CodeNotFound)
		other.do(t, "PUT", path, text).refused(404, core.CodeNotFound)
		other.do(t, "DELETE", path, "").refused(404, core.CodeNotFound)
		a.as(a.mint(t, core.ActivitiesView, core.ActivitiesWrite)).do(t, "DELETE", path, "").refused(403, core.CodeInvalidScope)
		a.do(t, "DELETE", path, "").want(200)
		a.do(t, "DELETE", path, "").refused(404, core.CodeNotFound)
	})
}
