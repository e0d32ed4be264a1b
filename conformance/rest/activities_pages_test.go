package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// activityPage is a page of activities as the API returns it. Properties keeps the bytes of
// the JSON unchanged.
type activityPage struct {
	Data []struct {
		ID         string          `json:"activity_id"`
		Name       string          `json:"name"`
		Properties json.RawMessage `json:"properties"`
	} `json:"data"`
	Pagination struct {
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
}

// TestActivityPropertiesComeBackToTheByte records activities with unusual JSON as
// properties, up to the limit of 32 KiB. Every list of activities must return the
// properties byte for byte.
func TestActivityPropertiesComeBackToTheByte(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const most = 32 << 10
		full := `"` + strings.Repeat("ü", most/2-1) + `"`
		texts := []string{
			`{}`, `[]`, `0`, `-0`, `-0.0`, `1E+02`, `0.10`, `12.50`, `true`, `null`, `""`, `"\ud83d\ude00\/\u002F"`,
			"{\n\t\"z\" : 1 ,\r\n \"a\":{ }\n}", `{"<b>&'":"</script>\u2028` + "\u2028" + `"}`, `[[[[[[[[[[]]]]]]]]]]`, `{"":{"":""}}`, full,
			`1e400`, `-1e-400`, `{"order":123456789012345678901234567890}`, `0.1000000000000000055511151231257827021181583404541015625`,
			`{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":[]},"":"x"}`, `"\u0000"`, `{"\u0000":"\u0000","a":"\\u0000"}`, `"\ud800"`, `{"\udc00":"\ud800\u0041"}`,
			strings.Repeat("[", 60) + strings.Repeat("]", 60),
		}
		items := make([]string, len(texts))
		for i, text := range texts {
			items[i] = fmt.Sprintf(`{"name":"n%d","email":"bytes@example.com","properties":%s}`, i, text)
		}
		for i, result := range results(t, a.do(t, "POST", "/v1/activities", `[`+strings.Join(items, ",")+`]`)) {
			if result["status"] != "accepted" {
				t.Errorf("%.60s: %v", texts[i], result)
			}
		}
		// If the properties of an item are not valid JSON, the whole request is refused, and
		// the refusal names the item.
		for _, wrong := range []string{`1e`, `{"a":1,}`, `{a:1}`, `'a'`, `"\x"`, "\"\t\"", `NaN`, `[1 2]`} {
			refusal := a.do(t, "POST", "/v1/activities", `[`+items[0]+`,{"name":"x","email":"bytes@example.com","properties":`+wrong+`}]`)
			problem := refusal.refused(422, core.CodeValidationFailed)
			if len(problem.Errors) != 1 || !strings.Contains(problem.Errors[0].Field, "1.properties") {
				t.Errorf("%s: %+v", wrong, problem)
			}
		}
		for _, wrong := range []string{`01`, "\"\xff\""} {
			a.do(t, "POST", "/v1/activities", `[`+items[0]+`,{"name":"x","email":"bytes@example.com","properties":`+wrong+`}]`).refused(422, core.CodeValidationFailed)
		}
		// Repeated members, NUL and numbers beyond the range of float64 are allowed inside
		// properties, but not elsewhere in an item. Properties with 64 nested levels are
		// refused.
		for _, wrong := range []string{`"properties":{},"properties":{}`, `"idempotency_key":"a\u0000"`, `"dedup_mode":1e400`, `"properties":` + strings.Repeat("[", 64) + strings.Repeat("]", 64)} {
			alone := results(t, a.do(t, "POST", "/v1/activities", `{"name":"x","email":"bytes@example.com",`+wrong+`}`))
			if len(alone) != 1 || alone[0]["reason"] != "invalid_item" {
				t.Errorf("%.60s: %v", wrong, alone)
			}
		}
		over := results(t, a.do(t, "POST", "/v1/activities", `{"name":"over","email":"bytes@example.com","properties": `+full[:len(full)-1]+`x" }`))
		if over[0]["reason"] != "properties_too_large" {
			t.Errorf("a byte too many: %v", over)
		}
		for _, list := range []string{"/v1/activities?contact=bytes%40example.com&limit=200", "/v1/contacts/bytes%40example.com/activities?limit=200"} {
			got := map[string]string{}
			answer := a.do(t, "GET", list, "").want(200)
			for _, activity := range activitiesOn(answer).Data {
				got[activity.Name] = string(activity.Properties)
			}
			want := map[string]string{}
			for i, text := range texts {
				want[fmt.Sprintf("n%d", i)] = text
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (- sent, + read):\n%.2000s", list, diff)
			}
		}
	})
}

func activitiesOn(answer *answer) activityPage {
	var page activityPage
	answer.decode(&page)
	return page
}

// TestActivityBodyOfOneMebibyte checks that a request body of exactly 1 MiB is accepted,
// and that one more byte is refused.
func TestActivityBodyOfOneMebibyte(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		item := `{"name":"a","email":"a@example.com"}`
		exact := item + strings.Repeat(" ", 1<<20-len(item))
		if got := results(t, a.do(t, "POST", "/v1/activities", exact)); got[0]["status"] != "accepted" {
			t.Errorf("%v", got)
		}
		refusal := a.do(t, "POST", "/v1/activities", exact+" ").want(422)
		if !strings.Contains(string(refusal.body), "more than 1 MiB") {
			t.Errorf("%s", refusal.body)
		}
	})
}

// TestPagesOfActivitiesHaveEachOnce reads lists of activities page by page, with several
// filters. Each matching activity must occur exactly once, even if many have the same time
// and newer ones are recorded between two pages.
func TestPagesOfActivitiesHaveEachOnce(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{ActivitiesPerMinute: 10_000}, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		var made []string
		record := func(n int, at string) {
			items := make([]string, n)
			for i := range items {
				items[i] = `{"name":"walked","email":"walker@example.com","occurred_at":"` + at + `"}`
			}
			for _, result := range results(t, a.do(t, "POST", "/v1/activities", `[`+strings.Join(items, ",")+`]`)) {
				made = append(made, fmt.Sprint(result["activity_id"]))
			}
		}
		record(1000, "2026-01-01T10:00:00.000001Z")
		record(500, "2026-01-02T10:00:00Z")
		want := map[string]int{}
		for _, id := range made {
			want[id]++
		}
		for _, list := range []string{
			"/v1/activities?name=walked&to=2026-01-03T00:00:00Z", "/v1/activities?from=2026-01-01T10:00:00Z&to=2026-01-03T00:00:00Z&contact=walker%40example.com",
			"/v1/contacts/walker%40example.com/activities?name=walked&to=2026-01-03T00:00:00Z",
		} {
			got, pages := map[string]int{}, 0
			for cursor := ""; ; pages++ {
				page := activitiesOn(a.do(t, "GET", list+"&limit=200&cursor="+url.QueryEscape(cursor), "").want(200))
				for _, activity := range page.Data {
					got[activity.ID]++
				}
				if page.Pagination.NextCursor == nil {
					break
				}
				cursor = *page.Pagination.NextCursor
				record(1, "2026-01-04T10:00:00Z") // later than the period of the requested lists
			}
			if diff := cmp.Diff(want, got); diff != "" || pages != 7 {
				t.Errorf("%s, %d pages (- recorded, + read):\n%.1000s", list, pages, diff)
			}
		}
	})
}
