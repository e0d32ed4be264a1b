package tools_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var withForms = map[string]any{"elicitation": map[string]any{}}

// sendBroadcast returns a call of broadcasts_send, which needs confirmation. The client
// uses the given protocol revision and has the given capabilities. more has further members
// of params.
func sendBroadcast(revision string, capabilities, more map[string]any) ask {
	members := map[string]any{"name": "broadcasts_send", "arguments": map[string]any{"broadcast_id": "b1"}}
	for name, value := range more {
		members[name] = value
	}
	if capabilities != nil {
		members["_meta"] = map[string]any{"io.modelcontextprotocol/clientCapabilities": capabilities}
	}
	return rpc(revision, "tools/call", members)
}

func formAnswer(action string, content any) map[string]any {
	answer := map[string]any{"action": action}
	if content != nil {
		answer["content"] = content
	}
	return map[string]any{"confirm": answer}
}

func TestConfirmByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(sendBroadcast(modern, withForms, nil))
	first := r.result(t)
	if first.Result.ResultType != "input_required" || first.Result.RequestState == "" || len(first.Result.Content) != 0 {
		t.Fatalf("first answer: %s", r.body)
	}
	asked := first.Result.InputRequests["confirm"]
	form := asked["params"].(map[string]any)
	properties := form["requestedSchema"].(map[string]any)["properties"].(map[string]any)
	if asked["method"] != "elicitation/create" || form["mode"] != "form" || form["message"] != "This sends to 12 people." {
		t.Errorf("form %v", asked)
	}
	if len(properties) != 1 || properties["confirm"].(map[string]any)["type"] != "boolean" {
		t.Errorf("properties %v", properties)
	}

	agreed := sendBroadcast(modern, withForms, map[string]any{
		"requestState": first.Result.RequestState, "inputResponses": formAnswer("accept", map[string]any{"confirm": true}),
	})
	second := w.send(agreed).result(t)
	if second.Result.IsError || second.Result.Structured["status"] != "sending" || w.ops.sends.Load() != 1 {
		t.Errorf("second answer: %+v", second.Result)
	}
	again := w.send(agreed).result(t)
	if again.Result.Meta["dev.service/idempotentReplay"] != true || w.ops.sends.Load() != 1 {
		t.Errorf("the same again: %+v, %d sent", again.Result, w.ops.sends.Load())
	}
}

func TestEveryOtherAnswerToTheFormDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := w.send(sendBroadcast(modern, withForms, nil)).result(t).Result.RequestState
	for name, responses := range map[string]map[string]any{
		"decline":            formAnswer("decline", nil),
		"cancel":             formAnswer("cancel", nil),
		"false":              formAnswer("accept", map[string]any{"confirm": false}),
		"nothing":            formAnswer("accept", nil),
		"text":               formAnswer("accept", map[string]any{"confirm": "true"}),
		"decline and true":   formAnswer("decline", map[string]any{"confirm": true}),
		"wrong case of true": formAnswer("accept", map[string]any{"Confirm": true}),
	} {
		a := w.send(sendBroadcast(modern, withForms, map[string]any{"requestState": state, "inputResponses": responses})).result(t)
		if a.Result.IsError || a.Result.Structured["status"] != "declined" || !strings.Contains(a.Result.Content[0].Text, "nothing was sent") {
			t.Errorf("%s: %+v", name, a.Result)
		}
	}
	if w.ops.sends.Load() != 0 {
		t.Error("it was sent")
	}
}

func TestARequestStateAloneConfirmsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := w.send(sendBroadcast(modern, withForms, nil)).result(t).Result.RequestState
	for name, a := range map[string]ask{
		"state alone": sendBroadcast(modern, withForms, map[string]any{"requestState": state}),
		"another key": sendBroadcast(modern, withForms, map[string]any{
			"requestState": state, "inputResponses": map[string]any{"other": map[string]any{"action": "accept", "content": map[string]any{"confirm": true}}},
		}),
		"state as argument": sendBroadcast(modern, withForms, map[string]any{
			"arguments": map[string]any{"broadcast_id": "b1", "confirmation_token": state},
		}),
	} {
		if got := w.send(a).result(t).Result; got.ResultType != "input_required" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A client of an older protocol revision cannot show forms. If it sends a request state
	// with an accepted form, the call must still not be executed.
	got := w.send(sendBroadcast(legacy, nil, map[string]any{
		"requestState": state, "inputResponses": formAnswer("accept", map[string]any{"confirm": true}),
	})).result(t).Result
	if got.Structured["status"] != "confirmation_required" || w.ops.sends.Load() != 0 {
		t.Errorf("older client: %+v, %d sent", got, w.ops.sends.Load())
	}
}

func TestConfirmByArgument(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		revision     string
		capabilities map[string]any
	}{
		{legacy, nil},
		{"2024-11-05", nil},
		{modern, nil},
		{modern, map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}},
	} {
		w := newWorld(t)
		first := w.send(sendBroadcast(tc.revision, tc.capabilities, nil)).result(t).Result
		got := first.Structured
		token, _ := got["confirmation_token"].(string)
		if got["confirmation_required"] != true || got["status"] != "confirmation_required" || token == "" || first.InputRequests != nil {
			t.Fatalf("%s: first answer %+v", tc.revision, first)
		}
		if got["preview"].(map[string]any)["recipients"] != 12.0 || got["expires_at"] != "2026-03-04T05:16:07Z" {
			t.Errorf("%s: preview %v", tc.revision, got)
		}
		text := first.Content[0].Text
		if !strings.HasPrefix(text, "Nothing was done yet. This sends to 12 people.") || !strings.Contains(text, token) {
			t.Errorf("%s: text %q", tc.revision, text)
		}
		agreed := sendBroadcast(tc.revision, tc.capabilities, map[string]any{
			"arguments": map[string]any{"confirmation_token": token, "broadcast_id": "b1"},
		})
		if second := w.send(agreed).result(t).Result; second.IsError || second.Structured["status"] != "sending" || w.ops.sends.Load() != 1 {
			t.Errorf("%s: second answer %+v", tc.revision, second)
		}
	}
}

// TestOutputSchemaHasTheMembersOfAConfirmation checks the output schema of a tool that
// needs confirmation. It must list the members of the answer that asks for the
// confirmation, with their types. Exceptions are status and message, which a failure has
// too. These are listed only if the operation's result has members with the same names.
func TestOutputSchemaHasTheMembersOfAConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var properties map[string]any
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		if tool["name"] == "broadcasts_send" {
			properties = tool["outputSchema"].(map[string]any)["properties"].(map[string]any)
		}
	}
	listed := map[string]any{}
	for name := range w.send(sendBroadcast(legacy, nil, nil)).result(t).Result.Structured {
		if property, ok := properties[name].(map[string]any); ok {
			listed[name] = property["type"]
		}
	}
	want := map[string]any{
		"confirmation_required": "boolean", "preview": "object", "confirmation_token": "string", "expires_at": "string", "status": nil,
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("of the answer, the schema lists (-want +got):\n%s\n%v", diff, properties)
	}
}

func TestConfirmationRefusalsAreAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.send(sendBroadcast(legacy, nil, nil)).result(t).Result.Structured["confirmation_token"].(string)
	confirm := func(token, broadcast string) ask {
		return sendBroadcast(legacy, nil, map[string]any{"arguments": map[string]any{"broadcast_id": broadcast, "confirmation_token": token}})
	}
	refused := map[string]any{}
	hold := func(name string, r reply) {
		t.Helper()
		got := r.result(t).Result
		if !got.IsError || got.Structured["code"] != "confirmation_invalid" {
			t.Errorf("%s: %+v", name, got)
		}
		// One case has 13 recipients instead of 12. Except for this number, its text must
		// be that of the other cases.
		refused[strings.ReplaceAll(got.Content[0].Text, "13 people", "12 people")] = true
	}
	hold("tampered", w.send(confirm("x"+token, "b1")))
	hold("no token at all", w.send(confirm("nonsense", "b1")))
	hold("other arguments", w.send(confirm(token, "b2")))
	hold("other client", w.send(confirm(token, "b1").withToken("limited")))
	w.ops.recipients.Store(13)
	hold("other consequence", w.send(confirm(token, "b1")))
	w.ops.recipients.Store(12)
	w.pass(11 * time.Minute)
	hold("expired", w.send(confirm(token, "b1")))
	if len(refused) != 1 {
		t.Errorf("the refusals tell each other apart: %v", refused)
	}
	bad := sendBroadcast(legacy, nil, map[string]any{"arguments": map[string]any{"broadcast_id": "b1", "confirmation_token": 7}})
	if got := w.send(bad).result(t).Result; got.Structured["code"] != "validation_failed" {
		t.Errorf("numeric token: %+v", got)
	}
	if w.ops.sends.Load() != 0 {
		t.Error("it was sent")
	}
}

func TestMalformedInputResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, responses := range []map[string]any{
		{"confirm": "yes"}, {"confirm": map[string]any{}}, {"confirm": map[string]any{"action": 7}},
	} {
		r := w.send(sendBroadcast(modern, withForms, map[string]any{"inputResponses": responses}))
		r.wantRPCError(t, 400, -32602)
		if strings.Contains(r.body, "mcp") {
			t.Errorf("the answer speaks of the inside: %s", r.body)
		}
	}
}
