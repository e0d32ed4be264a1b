package parity

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// toolShape is a read-only MCP tool with the expected members of its result and some calls
// to make. Each member must occur in the result of at least one call.
type toolShape struct {
	name  string
	table string
	own   []string
	other []string
	// elsewhere names members whose schema tools/list shows only at another tool. The
	// schema is not repeated, because the answer of tools/list fills part of an agent's
	// context.
	elsewhere []string
}

const (
	readinessTable = `
		ready                                 bool
		checks[].name                         text
		checks[].status                       =pass =warn =fail
		checks[].detail                       text
		send_quota                            object (null)
		send_quota.max_24_hour                int
		send_quota.max_send_rate              int
		send_quota.sent_last_24_hours         int
		sandbox                               bool`

	checkedTable = `
		suppressed                            bool
		reason                                =bounce =complaint =manual null
		suppressed_at                         time null
		undeliverable                         object null`

	healthTable = `
		from                                  time
		to                                    time
		totals.sent                           int
		totals.delivered                      int
		totals.bounced                        int
		totals.complained                     int
		totals.suppressed                     int
		totals.opens                          int
		totals.unique_opens                   int
		totals.clicks                         int
		totals.unique_clicks                  int
		rates.delivery                        number
		rates.bounce                          number
		rates.complaint                       number
		rates.open                            number
		rates.click                           number
		group_by                              =day =week =month
		trend[].period                        time
		trend[].sent                          int
		trend[].delivered                     int
		trend[].bounced                       int
		trend[].complained                    int
		trend[].unique_opens                  int
		warnings[].code                       =bounce_review =bounce_pause =complaint_review =complaint_pause =low_volume
		warnings[].text                       text
		changed                               text
		before                                object null
		before.sent                           int
		before.bounce                         number
		before.complaint                      number
		before.open                           number
		notable[].kind                        =channel =template
		notable[].name                        text
		notable[].text                        text`

	diagnosisTable = `
		message                               object
		outcome                               =arrived =complained =bounced =not_sent =delayed =underway =silent
		diagnosis                             text
		evidence[].claim                      text
		evidence[].event_ids[]                text
		evidence[].event_ids                  ? array
		next_steps[].step                     text
		next_steps[].tool                     ? text
		next_steps[].arguments                ? open
		events[].id                           text
		events[].type                         =Send =Delivery =Bounce =Complaint =Reject =Open =Click =DeliveryDelay =RenderingFailure =Subscription
		events[].occurred_at                  time
		events[].recipient                    ? text
		events[].metadata                     ? open
		events_total                          int
		truncated                             bool`
)

// below returns the lines of the table that list the members of a record, such as a contact.
// Each line begins with path, a dot and the name of the member.
func below(path, record string) string {
	return strings.ReplaceAll(listOf(record), "data[].", path+".")
}

// sampleOf returns the expected members of a shortened list in a tool's result: the shown
// items, their number, the number of all items, and a mark of truncation. The optional
// member more says how to get the rest. An item has the members in record.
func sampleOf(record string) string {
	return below("items[]", record) + `
		shown                                 int
		total                                 int
		truncated                             bool
		more                                  ? text`
}

func toolsOf(t *testing.T, s shapeScene) []toolShape {
	t.Helper()
	var diagnosed []string
	for _, status := range []string{"Send", "Delivery", "Bounce", "Complaint", "Reject", "Click", "DeliveryDelay"} {
		diagnosed = append(diagnosed, `{"message_id":"`+s.first(t, "/v1/messages?limit=1&status="+status, "id")+`"}`)
	}
	suppressed := `{"email":"` + s.first(t, "/v1/suppressions?limit=1", "email") + `"}`
	excluded := `{"email":"` + s.first(t, "/v1/undeliverable?status=excluded", "email") + `"}`
	return []toolShape{
		{name: "sending_readiness_check", table: readinessTable, own: []string{`{}`, `{"channel":"none"}`}},
		{
			name: "suppressions_check_address", table: checkedTable + "\n" + below("undeliverable", undeliverableTable),
			own: []string{suppressed, excluded, `{"email":"nobody@example.com"}`},
		},
		{name: "suppressions_list", table: sampleOf(suppressionTable), own: []string{`{}`, `{"limit":1}`, `{"reason":"complaint"}`}},
		{
			name: "undeliverable_list", table: sampleOf(undeliverableTable),
			own: []string{`{"limit":1}`, `{"since":"2026-01-01T00:00:00Z","limit":200}`}, other: []string{`{}`},
		},
		{
			name: "reports_get_sending_health", table: healthTable, other: []string{`{}`},
			own: []string{`{}`, `{"from":"` + s.Clock.Now().AddDate(0, 0, -364).Format("2006-01-02") + `T00:00:00Z"}`},
		},
		{name: "messages_search", table: sampleOf(messageTable), own: []string{`{}`}, other: []string{`{}`}},
		{
			name: "messages_diagnose", table: diagnosisTable + "\n" + below("message", messageTable), elsewhere: []string{"message", "events[].type"},
			own: diagnosed, other: []string{`{"message_id":"bare"}`},
		},
		{ // the member "more" does not occur in results: the tool accepts no limit, and the demo has few templates
			name: "templates_list", table: strings.Replace(sampleOf(templateTable), "? text", "? (text)", 1),
			own: []string{`{}`}, other: []string{`{}`},
		},
	}
}

func TestResultsOfTools(t *testing.T) {
	t.Parallel()
	s := newShapeScene(t)
	own, other := s.Token(t, s.MCPURL), s.TokenWith(t, s.Other.Live, s.MCPURL)
	listed := s.listed(t, own)
	for _, tool := range toolsOf(t, s) {
		shape := shapeOf(t, tool.table)
		if diff := cmp.Diff(shape.listing(tool.elsewhere), declaredBy(required(listed[tool.name]))); diff != "" {
			t.Errorf("%s is listed (-table +tools/list):\n%s", tool.name, diff)
		}
		seen := surveyOf(shape)
		for _, arguments := range tool.own {
			seen.look(t, tool.name+arguments, s.call(t, own, tool.name, arguments))
		}
		for _, arguments := range tool.other {
			seen.look(t, tool.name+arguments, s.call(t, other, tool.name, arguments))
		}
		seen.complete(t, tool.name)
	}
}

// listing returns the shape as the output schemas in tools/list describe it. The schemas
// have no formats, and all members are optional, because a failure has other members. A
// member whose path is in elsewhere may be any object or text.
func (s shape) listing(elsewhere []string) map[string]string {
	texts := map[string]string{}
	for path, m := range s {
		if slices.ContainsFunc(elsewhere, func(other string) bool { return strings.HasPrefix(path, other+".") }) {
			continue
		}
		var kinds []string
		for _, kind := range m.kinds {
			if other := slices.Contains(elsewhere, path); other && kind == "object" {
				kind = "open"
			} else if kind == "time" || kind == "uuid" || other {
				kind = "text"
			}
			kinds = append(kinds, kind)
		}
		texts[path] = declaration(slices.Compact(kinds), false)
	}
	return texts
}

// required returns a copy of an output schema of tools/list with all members required. In
// tools/list, all members are optional.
func required(schema map[string]any) map[string]any {
	all := maps.Clone(schema)
	members, _ := schema["properties"].(map[string]any)
	names, of := make([]any, 0, len(members)), map[string]any{}
	for name, member := range members {
		names = append(names, name)
		of[name] = member
		if member, ok := member.(map[string]any); ok {
			of[name] = required(member)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		all["items"] = required(items)
	}
	if len(members) > 0 {
		all["required"], all["properties"] = names, of
	}
	return all
}

// listed returns the output schemas of tools/list, keyed by the tool's name.
func (s shapeScene) listed(t *testing.T, token string) map[string]map[string]any {
	t.Helper()
	var result struct {
		Tools []struct {
			Name         string
			OutputSchema map[string]any
		}
	}
	if err := json.Unmarshal(s.post(t, token, `"tools/list"`), &result); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]map[string]any{}
	for _, one := range result.Tools {
		schemas[one.Name] = one.OutputSchema
	}
	return schemas
}

// call calls a tool and returns the structured content of its result. It ends the test if
// the call fails.
func (s shapeScene) call(t *testing.T, token, name, arguments string) string {
	t.Helper()
	var result struct {
		IsError           bool
		StructuredContent json.RawMessage
	}
	body := s.post(t, token, `"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}`)
	if err := json.Unmarshal(body, &result); err != nil || result.IsError {
		t.Fatalf("%s%s: %v: %s", name, arguments, err, body)
	}
	return string(result.StructuredContent)
}

// post sends a JSON-RPC request to the agent endpoint and returns its result. method is the
// JSON that follows "method": in the request.
func (s shapeScene) post(t *testing.T, token, method string) json.RawMessage {
	t.Helper()
	got := ask(t, s.Product, request{method: http.MethodPost, url: s.MCPURL + "/mcp", bearer: token, body: `{"jsonrpc":"2.0","id":1,"method":` + method + `}`})
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != http.StatusOK {
		t.Fatalf("%s: %d %s", method, got.status, got.body)
	}
	return answer.Result
}
