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

// TestReasons: every reason that an item has in itself, and the values next to it
// that will do.
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
		{`{"name":"a",` + ann + `,"dedup_mode":null,"idempotency_key":null,"occurred_at":null,"properties":null}`, ""},
		{`{"name":"a",` + ann + `,"dedup_mode":"twice"}`, activities.InvalidDedupMode},
		{`{"name":"a",` + ann + `,"dedup_mode":""}`, activities.InvalidDedupMode},
		{`{"name":"a"}`, activities.MissingIdentity},
		{`{"name":"a","email":null,"external_id":null}`, activities.MissingIdentity},
		{`{"name":"a","external_id":"u404"}`, activities.UnknownExternalID},
		{`{"name":"a",` + ann + `,"properties":"` + text("x", 32<<10-2) + `"}`, ""},
		{`{"name":"a",` + ann + `,"properties":"` + text("x", 32<<10-1) + `"}`, activities.PropertiesTooLarge},
	} {
		// Among others, whose fate it does not share.
		got := b.record(t, `{"name":"before",%s},%s,{"name":"after",%s}`, ann, tc.item, ann)
		if got[1].Reason != tc.reason || (got[1].Status == "accepted") != (tc.reason == "") {
			t.Errorf("%.120s: %+v, want %q", tc.item, got[1], tc.reason)
		}
		if got[0].Status != "accepted" || got[2].Status != "accepted" {
			t.Errorf("%.120s: its neighbours %+v, %+v", tc.item, got[0], got[2])
		}
	}
}

// TestWholeRequests: what has another form than its description is refused as a whole.
func TestWholeRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	const ann = `"email":"ann@x.example"`
	for field, arguments := range map[string]string{
		"activities":                   `{"activities":[]}`,
		"activities.0":                 `{"activities":[1]}`,
		"activities.0.name":            `{"activities":[{"name":1,` + ann + `}]}`,
		"activities.0.email":           `{"activities":[{"name":"a","email":{}}]}`,
		"activities.0.occurred_at":     `{"activities":[{"name":"a",` + ann + `,"occurred_at":"yesterday"}]}`,
		"activities.0.happened_at":     `{"activities":[{"name":"a",` + ann + `,"happened_at":"2026-01-01T00:00:00Z"}]}`,
		"activities.0.properties":      `{"activities":[{"name":"a",` + ann + `,"properties":{"a":1 2}}]}`,
		"activities.0.idempotency_key": `{"activities":[{"name":"a",` + ann + `,"idempotency_key":"\u0000"}]}`,
		"activities.1.idempotency_key": `{"activities":[{"name":"a",` + ann + `},{"name":"a",` + ann + `,"idempotency_key":[]}]}`,
	} {
		_, err := b.run(t.Context(), "activities_record", arguments)
		if err == nil || err.Code != core.CodeValidationFailed || len(err.Fields) == 0 || err.Fields[0].Field != field {
			t.Errorf("%s: %v, want %s", arguments, err, field)
		}
	}
	item := `,{"name":"a",` + ann + `}`
	if _, err := b.run(t.Context(), "activities_record", `{"activities":[`+strings.Repeat(item, 1000)[1:]+`]}`); err != nil {
		t.Errorf("1,000 items: %v", err)
	}
	b.refused(t, core.CodeValidationFailed, "activities_record", `{"activities":[`+strings.Repeat(item, 1001)[1:]+`]}`)
	b.surface = core.Agent
	b.refused(t, core.CodeValidationFailed, "activities_record", `{"activities":[`+strings.Repeat(item, 101)[1:]+`]}`)
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
		`"9999-12-31T23:59:59Z"`:                b.clock(),
		`null`:                                  b.clock(),
		`"0001-01-01T00:00:00Z"`:                time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
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

// TestPropertiesComeBackByteForByte: whatever JSON it is, as it was written.
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
