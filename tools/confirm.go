package tools

import (
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
	"github.com/mailhelm/mailhelm/tools/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An irreversible operation takes two calls. A client that shows forms gets a form, and the
// token is in its request state. Any other client gets the token in a plain result and sends
// it back as an argument. A token is valid for one of the two ways only. A program could
// repeat a request state on its own, so without the form's answer the state confirms
// nothing.

// confirmForm is the key of the form among the input requests. The form's one field has the
// same name.
const confirmForm = "confirm"

// maxQuestion is the longest consequence that a form shows to a person, in characters.
const maxQuestion = 2000

// confirmation returns the arguments for the operation and the confirmation token of the
// call, "" without one.
func (x *exchange) confirmation(arguments json.RawMessage) (json.RawMessage, string, error) {
	members := membersOf(jsontext.Value(arguments))
	raw, sent := members[schema.ConfirmationArgument]
	if sent {
		delete(members, schema.ConfirmationArgument)
		rest, err := jsonv2.Marshal(members, jsonv2.Deterministic(true))
		if err != nil {
			return nil, "", core.Internal(err)
		}
		arguments = json.RawMessage(rest)
	}
	if x.elicits() {
		if x.agreesInForm() {
			return arguments, x.message.params.RequestState, nil
		}
		return arguments, "", nil
	}
	var token string
	if sent && (raw.Kind() != '"' || jsonv2.Unmarshal(raw, &token) != nil) {
		return nil, "", core.Invalid(schema.ConfirmationArgument, "must be string")
	}
	return arguments, token, nil
}

// confirmationForm returns the way in which this client confirms; see guardrails.Request.
func (x *exchange) confirmationForm() string {
	if x.elicits() {
		return "form"
	}
	return "argument"
}

// formAnswer is the client's answer to the form.
type formAnswer struct {
	Action  string `json:"action"`
	Content struct {
		Confirm bool `json:"confirm"`
	} `json:"content"`
}

// agreesInForm reports whether the person agreed in the form of this call.
func (x *exchange) agreesInForm() bool {
	answer, ok := x.formAnswer()
	return ok && answer.Action == "accept" && answer.Content.Confirm
}

// declines reports whether the client showed the form and the person did not agree. An
// answer without the form's field counts as declined.
func (x *exchange) declines() bool {
	_, sent := x.message.params.InputResponses[confirmForm]
	return sent && x.elicits() && !x.agreesInForm()
}

// formAnswer returns the client's answer to the form, and whether it sent a valid one.
func (x *exchange) formAnswer() (formAnswer, bool) {
	var answer formAnswer
	raw, sent := x.message.params.InputResponses[confirmForm]
	return answer, sent && jsonv2.Unmarshal(raw, &answer) == nil
}

// askFor returns the result that asks for a confirmation: the preview of the consequence and
// how to confirm it.
func (s *toolset) askFor(x *exchange, asked *guardrails.ConfirmationRequired) *mcp.CallToolResult {
	visible, _ := core.VisibleText(asked.Message) // a person reads it in a form too
	message := content.Clip(visible, maxQuestion)
	if x.elicits() {
		return &mcp.CallToolResult{
			Meta:         mcp.Meta{metaRequestID: x.requestID},
			Content:      []mcp.Content{}, // nil would be written as null
			RequestState: asked.Token,
			InputRequests: mcp.InputRequestMap{confirmForm: &mcp.ElicitParams{
				Mode: "form", Message: message, RequestedSchema: confirmSchema,
			}},
		}
	}
	preview, err := content.Marshal(asked.Preview)
	if err != nil {
		return s.failure(x, core.Internal(err))
	}
	value, err := content.Marshal(struct {
		Required  bool            `json:"confirmation_required"`
		Status    string          `json:"status"`
		Message   string          `json:"message"`
		Preview   json.RawMessage `json:"preview"`
		Token     string          `json:"confirmation_token"`
		ExpiresAt time.Time       `json:"expires_at"`
	}{true, "confirmation_required", message, content.Shrink(preview, []string{""}, content.MaxBytes/2), asked.Token, asked.ExpiresAt})
	if err != nil {
		return s.failure(x, core.Internal(err))
	}
	answer := x.result("Nothing was done yet. "+message+
		" Show this to the person you act for. If they agree, repeat the call with the same arguments and confirmation_token "+asked.Token+
		" before "+asked.ExpiresAt.Format(time.RFC3339)+".", value)
	answer.Meta[metaUntrusted] = []string{"preview"}
	return answer
}

// confirmSchema is the schema of the form: one checkbox.
var confirmSchema = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, do this",` +
	`"description":"It cannot be taken back.","default":false}},"required":["confirm"]}`)

// declinedResult returns the result for a person who declined, which is not an error.
func (x *exchange) declinedResult() *mcp.CallToolResult {
	const message = "The person did not confirm, so nothing was done and nothing was sent."
	return x.result(message, json.RawMessage(`{"status":"declined","message":"`+message+`"}`))
}
