package activities_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestReasons checks every reason for which an item can be refused because of its own
// values. Valid values at the limits must be accepted.
func TestReasons(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	const ann = `"email":"ann@x.example"`
	text := func(r string, n int) string { return strings.Repeat(r, n) }
	b.contact(t, "long@x.example", text("é", 255))
	for _, tc := range []struct {
		item   string
		reason activities.Reason
	}{
		{`{"name":"a",` + ann + `}`, ""},
		{`{"name":"` + text("é", 200) + `",` + ann + `}`, ""},
		{`{"name":"` + text("é", 201) + `",` + ann + `}`, activities.InvalidName},
		{`{"name":"",` + ann + `}`, activities.InvalidName},
		{`{"name":" \t\u00a0",` + ann + `}`, activities.InvalidName},
		{`{` + ann + `}`, activities.InvalidName},
		{`{}`, activities.InvalidName},
		{`{"name":"a","email":""}`, activities.InvalidEmail},
		{`{"name":"a","email":"no address","external_id":"u"}`, activities.InvalidEmail},
		{`{"name":"a","email":"a@x.example\r\nBcc: b@x.example"}`, activities.InvalidEmail},
		{`{"name":"a","external_id":"` + text("é", 255) + `"}`, ""},
		{`{"name":"a",` + ann + `,"external_id":"` + text("é", 256) + `"}`, activities.InvalidExternalID},
		{`{"name":"a",` + ann + `,"external_id":""}`, activities.InvalidExternalID},
		{`{"name":"a",` + ann + `,"idempotency_key":"` + text("é", 256) + `"}`, ""},
		{`{"name":"a",` + ann + `,"idempotency_key":"` + text("é", 257) + `"}`, activities.InvalidIdempotencyKey},
		{`{"name":"a",` + ann + `,"idempotency_key":""}`, activities.InvalidIdempotencyKey},
		{`{"name":"a",` + ann + `,"idempotency_key":"","dedup_mode":"once"}`, ""},
		{`{"name":"a",` + ann + `,"dedup_mode":"retry"}`, ""},
		{`{"name":"a",` + ann + `,"idempotency_key":"","dedup_mode":"Once"}`, ""},
		{`{"name":"a",` + ann + `,"dedup_mode":null,"idempotency_key":null,"occurred_at":null,"properties":null}`, ""},
		{`{"name":"a",` + ann + `,"dedup_mode":"twice"}`, activities.InvalidDedupMode},
		{`{"name":"a",` + ann + `,"dedup_mode":""}`, activities.InvalidDedupMode},
		{`{"name":"a"}`, activities.MissingIdentity},
		{`{"name":"a","email":null,"external_id":null}`, activities.MissingIdentity},
		{`{"name":"a","external_id":"u404"}`, activities.UnknownExternalID},
		{`{"name":"a",` + ann + `,"properties":"` + text("x", 32<<10-2) + `"}`, ""},
		{`{"name":"a",` + ann + `,"properties":"` + text("x", 32<<10-1) + `"}`, activities.PropertiesTooLarge},
	} {
		// The item is sent between two valid ones, which must be accepted.
		got := b.record(t, `{"name":"before",%s},%s,{"name":"after",%s}`, ann, tc.item, ann)
		if got[1].Reason != tc.reason || (got[1].Status == "accepted") != (tc.reason == "") {
			t.Errorf("%.120s: %+v, want %q", tc.item, got[1], tc.reason)
		}
		if got[0].Status != "accepted" || got[2].Status != "accepted" {
			t.Errorf("%.120s: its neighbours %+v, %+v", tc.item, got[0], got[2])
		}
	}
}

// invalidItems maps malformed items to the detail with which each must be refused.
var invalidItems = map[string]string{
	`1`: "The item is not an object.", `null`: "The item is not an object.", `[]`: "The item is not an object.", `"a"`: "The item is not an object.",
	`{"name":1,"email":"ann@x.example"}`:                                        "`name` must be a string.",
	`{"name":null,"email":"ann@x.example"}`:                                     "`name` is null; send a string.",
	`{"name":"a","email":{}}`:                                                   "`email` must be a string.",
	`{"name":"a","external_id":7}`:                                              "`external_id` must be a string.",
	`{"name":"a","email":"ann@x.example","idempotency_key":[]}`:                 "`idempotency_key` must be a string.",
	`{"name":"a","email":"ann@x.example","idempotency_key":"\u0000"}`:           "`idempotency_key` holds a NUL character.",
	`{"name":"a","email":"ann@x.example","dedup_mode":true}`:                    "`dedup_mode` must be a string.",
	`{"name":"a","email":"ann@x.example","occurred_at":"yesterday"}`:            "`occurred_at` is \"yesterday\"; send a date-time in RFC 3339, such as 2026-03-02T08:00:00Z.",
	`{"name":"a","email":"ann@x.example","occurred_at":1767225600}`:             "`occurred_at` must be a string; send a date-time in RFC 3339, such as 2026-03-02T08:00:00Z.",
	`{"name":"a","email":"ann@x.example","occurred_at":"2026-03-01"}`:           "`occurred_at` is \"2026-03-01\"; send a date-time in RFC 3339, such as 2026-03-02T08:00:00Z.",
	`{"name":"a","email":"ann@x.example","occurred_at":"2026-03-01T12:05:01Z"}`: "`occurred_at` is 2026-03-01T12:05:01Z, more than 5 minutes after 2026-03-01T12:00:00Z, when it was received; send the time at which it happened.",
	`{"name":"a","email":"ann@x.example","happened_at":"2026-01-01T00:00:00Z"}`: "`happened_at` is unknown; known names are name, email, external_id, properties, occurred_at, idempotency_key, dedup_mode.",
	`{"Name":"a","email":"ann@x.example"}`:                                      "`Name` is unknown; known names are name, email, external_id, properties, occurred_at, idempotency_key, dedup_mode.",
	`{"name":"a","name":"b","email":"ann@x.example"}`:                           "`name` names a member twice in one object.",
	`{"name":"\ud800","email":"ann@x.example"}`:                                 "`name` is not valid JSON at this member.",
	`{"name":"a","email":"ann@x.example","properties":` + deep + `}`:            "The item is nested deeper than 64 levels.",
	`{"name":"a","email":"ann@x.example","a` + "`\u202e" + `b":1}`:              "`a'b` is unknown; known names are name, email, external_id, properties, occurred_at, idempotency_key, dedup_mode.",
}

var deep = strings.Repeat("[", 65) + strings.Repeat("]", 65)

// TestInvalidItemsAreRejectedAlone checks on the REST and agent surfaces that a malformed
// item is rejected and the valid items before and after it are accepted.
func TestInvalidItemsAreRejectedAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	const ann = `{"name":"a","email":"ann@x.example"}`
	for _, surface := range []core.Surface{core.REST, core.Agent} {
		b.surface = surface
		for item, detail := range invalidItems {
			got := b.record(t, "%s,%s,%s", ann, item, ann)
			want := activities.ItemResult{Index: 1, Status: "rejected", Reason: activities.InvalidItem, Detail: detail}
			if got[1] != want || got[0].Status != "accepted" || got[2].Status != "accepted" {
				t.Errorf("%.120s: %+v", item, got)
			}
		}
	}
	// A well-formed item without a name is refused with invalid_name instead of
	// invalid_item, and has no detail.
	if got := b.record(t, `{"email":"ann@x.example"}`); got[0].Reason != activities.InvalidName || got[0].Detail != "" {
		t.Errorf("%+v", got)
	}
}

// TestWholeRequests checks the number of items in a request: 1 to 1,000, or 1 to 100 from
// an agent. With any other number, the whole request must be refused. So must a request
// with malformed JSON or an unknown member.
func TestWholeRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	const ann = `"email":"ann@x.example"`
	for field, arguments := range map[string]string{
		"activities":              `{"activities":[]}`,
		"activities.0.properties": `{"activities":[{"name":"a",` + ann + `,"properties":{"a":1 2}}]}`,
		"activities.0.name":       "{\"activities\":[{\"name\":\"\xff\"}]}",
		"items":                   `{"activities":[{"name":"a",` + ann + `}],"items":[]}`,
	} {
		_, err := b.run(t.Context(), "activities_record", arguments)
		if err == nil || err.Code != core.CodeValidationFailed || len(err.Fields) == 0 || err.Fields[0].Field != field {
			t.Errorf("%s: %v, want %s", arguments, err, field)
		}
	}
	for _, arguments := range []string{`{}`, `{"activities":null}`, `{"activities":{"name":"a",` + ann + `}}`, `{"activities":"a"}`} {
		b.wantRefusal(t, core.CodeValidationFailed, "activities_record", arguments)
	}
	item := `,{"name":"a",` + ann + `}`
	if _, err := b.run(t.Context(), "activities_record", `{"activities":[`+strings.Repeat(item, 1000)[1:]+`]}`); err != nil {
		t.Errorf("1,000 items: %v", err)
	}
	b.wantRefusal(t, core.CodeValidationFailed, "activities_record", `{"activities":[`+strings.Repeat(item, 1001)[1:]+`]}`)
	b.surface = core.Agent
	b.wantRefusal(t, core.CodeValidationFailed, "activities_record", `{"activities":[`+strings.Repeat(item, 101)[1:]+`]}`)
	if got := b.record(t, "%s", strings.Repeat(item, 100)[1:]); len(got) != 100 {
		t.Errorf("%d results of 100 items of an agent", len(got))
	}
	if page := b.page(t, `{"limit":1}`); page.Items[0].Source != activities.FromAgent {
		t.Errorf("%+v", page.Items)
	}
}

func TestTimesAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	for sent, kept := range map[string]time.Time{
		`"2026-02-28T23:00:00.123456789+02:00"`: time.Date(2026, 2, 28, 21, 0, 0, 123456000, time.UTC),
		`"2026-03-01T12:00:01Z"`:                b.clock(),
		// exactly 5 minutes ahead, which is the most that is accepted
		`"2026-03-01T14:05:00+02:00"`: b.clock(),
		`null`:                        b.clock(),
		`"0001-01-01T00:00:00Z"`:      time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		id := b.record(t, `{"name":"a","email":"ann@x.example","occurred_at":%s}`, sent)[0].ActivityID
		found := false
		for _, a := range b.page(t, `{}`).Items {
			if a.ID == id {
				found = true
				if !a.OccurredAt.Equal(kept) || !a.ReceivedAt.Equal(b.clock()) {
					t.Errorf("%s: %v, received %v, want %v", sent, a.OccurredAt, a.ReceivedAt, kept)
				}
			}
		}
		if !found {
			t.Errorf("%s is not found", sent)
		}
	}
}

// TestPropertiesComeBackByteForByte checks that properties are returned exactly as they
// were sent, whatever JSON they contain.
func TestPropertiesComeBackByteForByte(t *testing.T) {
	t.Parallel()
	each(t, propertiesComeBack)
}

func propertiesComeBack(t *testing.T, db *storage.DB) {
	b := setup(t, db)
	for i, properties := range []string{
		`{}`, `null`, `[]`, `0`, `-0`, `1.0`, `1e2`, `1E+2`, `""`, `true`, `{ "b" : 1 ,	"a":[ 1, 2 ]}`,
		`{"z":1,"a":2}`, `"<script>&amp;</script>"`, `"\u003c\u2028\/"`, `"é\u00e9\ud83d\ude00😀"`, `{"":{"":{}}}`,
		`"'; DROP TABLE activities; --"`, `{"$1":"$2","/*pg":"*/"}`, "{\n  \"pretty\": true\n}", `{"a":"\u0000\ud800","b":12345678901234567890,"b":1e999}`, strings.Repeat("[", 60) + strings.Repeat("]", 60),
	} {
		name := fmt.Sprintf("p%d", i)
		if got := b.record(t, `{"name":%q,"email":"ann@x.example","properties":%s}`, name, properties); got[0].Status != "accepted" {
			t.Errorf("%s: %+v", properties, got)
			continue
		}
		page := b.page(t, `{"name":%q}`, name)
		written, err := page.RESTView().AppendJSON(nil)
		if err != nil || len(page.Items) != 1 || !strings.Contains(string(written), `,"properties":`+properties+`}],"pagination":`) {
			t.Errorf("%s came back in %s, %v", properties, written, err)
		}
		if !json.Valid(written) {
			t.Errorf("%s is no JSON", written)
		}
	}
}
