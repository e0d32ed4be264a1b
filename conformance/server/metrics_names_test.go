package server

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
)

// toolAnswer has two parts of a tool result: the structured content, and the opaque state
// that a client sends back together with the user's confirmation.
type toolAnswer struct {
	Value map[string]any `json:"structuredContent"`
	State string         `json:"requestState"`
}

// call calls a tool in the given MCP revision, and returns the structured content of the
// result. more is JSON text with further members of the call's params.
func (s *confirmingEndpoint) call(t *testing.T, revision, name, arguments, more string) map[string]any {
	t.Helper()
	return s.answer(t, revision, name, arguments, more).Value
}

func (s *confirmingEndpoint) answer(t *testing.T, revision, name, arguments, more string) toolAnswer {
	t.Helper()
	a := request{http.MethodPost, s.url + "/mcp", standin.Token, toolCall("1", name, arguments, more), map[string]string{"MCP-Protocol-Version": revision}}
	if revision == modern {
		a.header["Mcp-Method"], a.header["Mcp-Name"] = "tools/call", name
	}
	answered := ask(t, s.http, a)
	var got struct {
		Result toolAnswer `json:"result"`
	}
	if err := json.Unmarshal([]byte(answered.body), &got); err != nil || answered.status != http.StatusOK {
		t.Fatalf("%d %s", answered.status, answered.body)
	}
	return got.Result
}

const shows = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

const agreed = `,"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}}`

// TestGoldenConfirmationsAndTruncations checks the metrics of confirmations, of replayed
// answers and of shortened results. It compares all metric names with a committed file.
// The product has no operation that needs a confirmation, so startConfirmingEndpoint
// declares one for the test.
func TestGoldenConfirmationsAndTruncations(t *testing.T) {
	t.Parallel()
	s := startConfirmingEndpoint(t)
	const id = `{"broadcast_id":"b1"`
	token, state := "", ""
	for _, tc := range []struct {
		series string
		do     func()
	}{
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="issued"}`, func() {
			token, _ = s.call(t, legacy, "broadcasts_send", id+"}", "")["confirmation_token"].(string)
		}},
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="refused"}`, func() {
			s.call(t, legacy, "broadcasts_send", id+`,"confirmation_token":"`+token+`x"}`, "")
		}},
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="accepted"}`, func() {
			s.call(t, legacy, "broadcasts_send", id+`,"confirmation_token":"`+token+`"}`, "")
		}},
		{`mailhelm_replays_total{key="derived",operation="broadcasts_send",surface="agent"}`, func() {
			s.call(t, legacy, "broadcasts_send", id+`,"confirmation_token":"`+token+`"}`, "")
		}},
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="declined"}`, func() {
			s.call(t, modern, "broadcasts_send", id+"}", shows+`,"inputResponses":{"confirm":{"action":"decline"}},"requestState":"x"`)
		}},
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="issued"}`, func() {
			state = s.answer(t, modern, "broadcasts_send", id+"}", shows).State
		}},
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="accepted"}`, func() {
			s.call(t, modern, "broadcasts_send", id+"}", shows+agreed+`,"requestState":"`+state+`"`)
		}},
		// The confirmation token was used before, so the call must be refused. Its new
		// idempotency key prevents a replay of the earlier answer.
		{`mailhelm_confirmations_total{operation="broadcasts_send",outcome="refused"}`, func() {
			s.call(t, legacy, "broadcasts_send", id+`,"confirmation_token":"`+token+`"}`, `,"_meta":{"dev.service/idempotencyKey":"again"}`)
		}},
		{`mailhelm_replays_total{key="explicit",operation="broadcasts_send",surface="agent"}`, func() {
			const key = `,"_meta":{"dev.service/idempotencyKey":"twice"}`
			fresh, _ := s.call(t, legacy, "broadcasts_send", id+"}", key)["confirmation_token"].(string)
			confirmed := id + `,"confirmation_token":"` + fresh + `"}`
			s.call(t, legacy, "broadcasts_send", confirmed, key)
			s.call(t, legacy, "broadcasts_send", confirmed, key)
		}},
		{`mailhelm_truncations_total{operation="contacts_lookup",surface="agent"}`, func() {
			s.call(t, legacy, "contacts_lookup", `{}`, "") // the result is longer than allowed, so it is shortened
		}},
		{`mailhelm_truncations_total{operation="lists_list",surface="agent"}`, func() {
			s.call(t, legacy, "lists_list", `{}`, "")
		}},
	} {
		before, _ := readMetrics(t, s.http, s.admin)
		tc.do()
		if after, text := readMetrics(t, s.http, s.admin); after[tc.series] != before[tc.series]+1 {
			t.Errorf("%s: %v, then %v\n%s", tc.series, before[tc.series], after[tc.series], text)
		}
	}
}
