package rest_test

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const (
	record    = "POST /v1/activities"
	promoted  = "/v1/activity-properties"
	recording = "tool activities_record"
)

// both returns two test steps that record the same item, one by the route and one by the
// tool. Both expect the same result.
func both(item, result string) []step {
	return []step{
		{call: record, body: item, status: 202, want: `{"data":[` + result + `]}`},
		{call: recording, body: `{"activities":[` + item + `]}`, want: `{"items":[` + result + `]}`},
	}
}

// refusedItem returns a rule: route and tool must reject the item with the given reason.
// says describes the rule in words.
func refusedItem(says, item, reason string) rule {
	return rule{says, both(item, `{"index":0,"status":"rejected","reason":"`+reason+`"}`)}
}

// takenItem returns a rule: route and tool must accept the item. says describes the rule in
// words.
func takenItem(says, item string) rule {
	return rule{says, both(item, `{"index":0,"status":"accepted"}`)}
}

// activityRules are the rules for recording and reading activities, and for making their
// properties available to segment predicates. Other tests check the rate limit, requests of
// 1,000 items, the limit of 1 MiB and malformed JSON.
var activityRules = []rule{
	refusedItem("an item has a name", `{"email":"$a"}`, "invalid_name"),
	refusedItem("a name is not blank", `{"name":" \t","email":"$a"}`, "invalid_name"),
	refusedItem("a name has at most 200 characters", `{"name":"`+strings.Repeat("é", 201)+`","email":"$a"}`, "invalid_name"),
	takenItem("a name of 200 characters will do", `{"name":"`+strings.Repeat("é", 200)+`","email":"$a"}`),
	refusedItem("an address is one", `{"name":"n","email":"nobody"}`, "invalid_email"),
	refusedItem("an external id is not empty", `{"name":"n","email":"$a","external_id":""}`, "invalid_external_id"),
	refusedItem("an external id has at most 255 characters", `{"name":"n","email":"$a","external_id":"`+strings.Repeat("é", 256)+`"}`, "invalid_external_id"),
	takenItem("an external id of 255 characters will do", `{"name":"n","email":"$a","external_id":"$x`+strings.Repeat("é", 240)+`"}`),
	refusedItem("an idempotency key is not empty", `{"name":"n","email":"$a","idempotency_key":""}`, "invalid_idempotency_key"),
	refusedItem("an idempotency key has at most 256 characters", `{"name":"n","email":"$a","idempotency_key":"`+strings.Repeat("é", 257)+`"}`, "invalid_idempotency_key"),
	takenItem("an idempotency key of 256 characters will do", `{"name":"n","email":"$a","idempotency_key":"$x`+strings.Repeat("é", 240)+`"}`),
	refusedItem("a mode is retry or once", `{"name":"n","email":"$a","dedup_mode":"never"}`, "invalid_dedup_mode"),
	refusedItem("an item says whose it is", `{"name":"n"}`, "missing_identity"),
	refusedItem("an external id that nobody has is not enough", `{"name":"n","external_id":"$x"}`, "unknown_external_id"),
	refusedItem("properties have at most 32 KiB", `{"name":"n","email":"$a","properties":"`+strings.Repeat("x", 32<<10-1)+`"}`, "properties_too_large"),
	takenItem("properties of 32 KiB will do", `{"name":"n","email":"$a","properties":"`+strings.Repeat("x", 32<<10-2)+`"}`),
	{"an address whose contact has another external id is a conflict", append([]step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
	}, both(`{"name":"n","email":"$a","external_id":"$y"}`, `{"index":0,"status":"rejected","reason":"external_id_conflict"}`)...)},
	{"items are answered one by one, in their order", []step{
		{
			call: record, body: `[{"name":"n"},{"name":"n","email":"$a"},{"email":"$a"}]`, status: 202,
			want: `{"data":[{"index":0,"status":"rejected","reason":"missing_identity"},{"index":1,"status":"accepted"},{"index":2,"status":"rejected","reason":"invalid_name"}]}`,
		},
		{
			call: recording, body: `{"activities":[{"name":"n"},{"name":"n","email":"$a"},{"email":"$a"}]}`,
			want: `{"accepted":1,"rejected":2,"items":[{"index":0,"reason":"missing_identity"},{"index":1,"status":"accepted"},{"index":2,"reason":"invalid_name"}]}`,
		},
	}},
	{"a known external id comes before the address, and an address is whose it is", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201, keep: "id"},
		{call: "POST " + people, body: `{"email":"$b"}`, status: 201, keep: "id"},
		{
			call: record, body: `[{"name":"n","external_id":"$x"},{"name":"n","external_id":"$x","email":"$b"},{"name":"n","email":"$b"}]`, status: 202,
			want: `{"data":[{"contact_id":"$1"},{"contact_id":"$1"},{"contact_id":"$2"}]}`,
		},
		{
			call: recording, body: `{"activities":[{"name":"m","external_id":"$x"},{"name":"m","external_id":"$x","email":"$b"},{"name":"m","email":"$b"}]}`,
			want: `{"items":[{"contact_id":"$1"},{"contact_id":"$1"},{"contact_id":"$2"}]}`,
		},
	}},
	{"an address that nobody has makes a contact without attributes or consent, which is not mailable", []step{
		{call: record, body: `{"name":"n","email":"$a"}`, status: 202, keep: "data.0.contact_id"},
		{call: "GET " + people + "/$A", status: 200, want: `{"id":"$1","status":"active","attributes":{},"topic_preferences":[],"unsubscribe_all":false,"external_id":null}`},
		{call: recording, body: `{"activities":[{"name":"n","email":"$b"}]}`, want: `{"items":[{"status":"accepted"}]}`},
		{call: "tool contacts_lookup", body: `{"email":"$b"}`, want: `{"contact":{"attributes":{}}}`},
	}},
	{"an external id comes to the contact of the address, or to a new one", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, keep: "id"},
		{call: record, body: `[{"name":"n","email":"$a","external_id":"$x"},{"name":"n","external_id":"$x"}]`, status: 202, want: `{"data":[{"contact_id":"$1"},{"contact_id":"$1"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"external_id":"$x"}`},
		{call: recording, body: `{"activities":[{"name":"n","email":"$b","external_id":"$y"}]}`, want: `{"items":[{"status":"accepted"}]}`},
		{call: "GET " + people + "/$B", status: 200, want: `{"external_id":"$y"}`},
	}},
	{"a key that was used is the same activity, on either surface; without a key nothing is", []step{
		{call: record, body: `{"name":"n","email":"$a","idempotency_key":"$x"}`, status: 202, keep: "data.0.activity_id"},
		{call: record, body: `[{"name":"n","email":"$a","idempotency_key":"$x"},{"name":"n","email":"$a"},{"name":"n","email":"$a"}]`, status: 202, want: `{"data":[{"status":"accepted","activity_id":"$1","duplicate":true},{"status":"accepted"},{"status":"accepted"}]}`},
		{call: recording, body: `{"activities":[{"name":"n","email":"$a","idempotency_key":"$x","dedup_mode":"retry"}]}`, want: `{"accepted":1,"items":[{"activity_id":"$1","duplicate":true}]}`},
		{call: "GET /v1/contacts/$A/activities/summary", status: 200, want: `{"data":[{"name":"n","count_total":3,"count_30d":3}]}`},
	}},
	{"once is once for a contact and name, and looks at no key", []step{
		{call: record, body: `{"name":"n","email":"$a","dedup_mode":"once","idempotency_key":"$x"}`, status: 202, keep: "data.0.activity_id"},
		{
			call: recording, body: `{"activities":[{"name":"n","email":"$a","dedup_mode":"once","idempotency_key":"$y"},{"name":"m","email":"$a","dedup_mode":"once"},{"name":"n","email":"$b","dedup_mode":"once"}]}`,
			want: `{"items":[{"activity_id":"$1","duplicate":true},{"status":"accepted"},{"status":"accepted"}]}`,
		},
		{call: record, body: `{"name":"n","email":"$a","idempotency_key":"$x"}`, status: 202, keep: "data.0.activity_id"},
		{call: "GET /v1/contacts/$A/activities?name=n", status: 200, want: `{"data":[{"activity_id":"$2"},{"activity_id":"$1"}]}`},
	}},
	{"an activity is read with its contact, properties, times and source, newest first", []step{
		{call: record, body: `{"name":"n","email":"$a","occurred_at":"2026-01-02T03:04:05+01:00","properties":{"p":1}}`, status: 202, keep: "data.0.activity_id"},
		{call: recording, body: `{"activities":[{"name":"m","email":"$a"}]}`, want: `{"accepted":1}`, keep: "items.0.contact_id"},
		{call: "GET /v1/activities?contact=$A", status: 200, want: `{"data":[{"name":"m","source":"agent","contact_id":"$2","properties":{}},{"activity_id":"$1","contact_id":"$2","name":"n","source":"api","occurred_at":"2026-01-02T02:04:05Z","properties":{"p":1}}],"pagination":{"has_more":false}}`},
		{call: "GET /v1/activities?contact=$2&name=n", status: 200, want: `{"data":[{"activity_id":"$1"}]}`},
		{call: "GET /v1/activities?contact=$A&to=2026-01-03T00:00:00Z", status: 200, want: `{"data":[{"name":"n"}]}`},
		{call: "GET /v1/activities?contact=$A&from=2026-01-03T00:00:00Z", status: 200, want: `{"data":[{"name":"m"}]}`},
		{call: "GET /v1/activities?contact=nobody", status: 200, want: `{"data":[]}`},
		{call: "GET /v1/contacts/$2/activities?name=n&from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z", status: 200, want: `{"data":[{"activity_id":"$1"}]}`},
		{call: "GET /v1/contacts/$A/activities/summary", status: 200, want: `{"data":[{"name":"m","count_total":1},{"name":"n","count_total":1,"first_at":"2026-01-02T02:04:05Z","last_at":"2026-01-02T02:04:05Z"}]}`},
		{call: "GET /v1/contacts/nobody/activities", status: 404, code: core.CodeNotFound},
	}},
	{"a property of activities is promoted once, and is changed and ended with its impact", []step{
		{
			call: "POST " + promoted, body: `{"activity_name":"$n","property":"p","type":"string","description":"d"}`, status: 201, keep: "id",
			want: `{"activity_name":"$n","property":"p","type":"string","description":"d","origin":"managed"}`, lacks: "mutation_class",
		},
		{call: "POST " + promoted, body: `{"activity_name":"$n","property":"p","type":"number"}`, status: 409, code: core.CodeConflict},
		{call: "POST " + promoted, body: `{"activity_name":"$n","property":"q","type":"enum"}`, status: 422, code: core.CodeValidationFailed},
		{call: "GET " + promoted + "/$1", status: 200, want: `{"id":"$1","type":"string"}`},
		{call: "POST " + promoted + "/$1/preview", body: `{"activity_name":"$n","property":"p","type":"number"}`, status: 200, want: `{"mutation_class":"disruptive","impact":{"affected_segments":[],"projected_dropout":0}}`},
		{call: "GET " + promoted + "/$1", status: 200, want: `{"type":"string"}`},
		{call: "PUT " + promoted + "/$1", body: `{"activity_name":"$n","property":"p","type":"string"}`, status: 200, want: `{"id":"$1","description":"","mutation_class":"free"}`, lacks: "impact"},
		{call: "PUT " + promoted + "/$1", body: `{"activity_name":"$n","property":"p","type":"datetime"}`, status: 200, want: `{"type":"datetime","mutation_class":"disruptive","impact":{"affected_segments":[]}}`},
		{call: "DELETE " + promoted + "/$1", status: 200, want: `{"mutation_class":"disruptive","impact":{"affected_segments":[]}}`},
		{call: "GET " + promoted + "/$1", status: 404, code: core.CodeNotFound},
	}},
}

// segmentRules are the rules for reading segments. The public API has no calls that change
// segments.
var segmentRules = []rule{
	{"a segment is read by id or key, with its predicate, class and state", []step{
		{
			call: "GET /v1/segments/good-customers", status: 200, keep: "id", lacks: "eval_warning eval_warning_at source_path",
			want: `{"key":"good-customers","name":"Good customers","source":"attr.spent_eur >= 300 or attr.orders >= 10","profile_version":1,"eval_class":"incremental","status":"active","origin":"managed"}`,
		},
		{call: "GET /v1/segments/$1", status: 200, want: `{"id":"$1","key":"good-customers"}`},
		{call: "GET /v1/segments", status: 200, want: `{"data":[{"key":"quiet-wholesale","eval_class":"both"},{"id":"$1"},{"key":"engaged-readers","eval_class":"both"}],"pagination":{"has_more":false}}`},
		{call: "GET /v1/segments?limit=1", status: 200, want: `{"data":[{"key":"quiet-wholesale"}],"pagination":{"has_more":true}}`},
		{call: "tool segments_list", body: `{}`, want: `{"items":[{"key":"quiet-wholesale"},{"id":"$1","status":"active","eval_class":"incremental"},{"key":"engaged-readers"}],"total":3,"truncated":false}`},
		{call: "tool segments_list", body: `{"query":"GOOD"}`, want: `{"items":[{"id":"$1"}],"total":1}`},
		{call: "tool segments_list", body: `{"status":"invalid"}`, want: `{"items":[],"total":0}`},
		{call: "tool segments_list", body: `{"limit":1}`, want: `{"items":[{"key":"quiet-wholesale"}],"total":3,"truncated":true}`},
		{call: "GET /v1/segments/nowhere", status: 404, code: core.CodeNotFound},
		{call: "GET /v1/segments/nowhere/members", status: 404, code: core.CodeNotFound},
	}},
	{"segments are made, changed and deleted elsewhere", []step{
		{call: "POST /v1/segments", body: `{}`, status: 405, want: `{"code":"method_not_allowed"}`},
		{call: "PUT /v1/segments/good-customers", body: `{}`, status: 405, want: `{"code":"method_not_allowed"}`},
		{call: "PATCH /v1/segments/good-customers", body: `{}`, status: 405, want: `{"code":"method_not_allowed"}`},
		{call: "DELETE /v1/segments/good-customers", status: 405, want: `{"code":"method_not_allowed"}`},
	}},
	{"a membership check says yes or no and misses only segments", []step{
		{call: "GET /v1/segments/good-customers/members/$A", status: 200, want: `{"is_member":false}`},
		{call: "GET /v1/segments/good-customers/members/00000000-0000-7000-8000-000000000000", status: 200, want: `{"is_member":false}`},
		{call: "GET /v1/segments/nowhere/members/$A", status: 404, code: core.CodeNotFound},
	}},
}
