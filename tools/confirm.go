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

// An operation that cannot be taken back takes two calls. A client that shows
// forms is asked by one, and the token travels as its request state; any other
// client gets the token in a plain result and sends it back as an argument. Each
// kind of client confirms in its own way only: a request state may be repeated
// by a program on its own, so without the form's answer it confirms nothing.

// confirmForm is the key of the form among the input requests, and of its one field.
const confirmForm = "confirm"

// maxQuestion is the longest consequence that is put to a person, in characters.
const maxQuestion = 2000

// confirmation splits the token that a call carries from the arguments that the
// operation sees.
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

// confirmationForm returns which of the two ways this client confirms in.
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

// agreesInForm reports whether the person agreed in the form.
func (x *exchange) agreesInForm() bool {
	answer, ok := x.formAnswer()
	return ok && answer.Action == "accept" && answer.Content.Confirm
}

// declines reports whether the person saw the form and did not agree. An answer without the
// form's field is no agreement.
func (x *exchange) declines() bool {
	_, sent := x.message.params.InputResponses[confirmForm]
	return sent && x.elicits() && !x.agreesInForm()
}

func (x *exchange) formAnswer() (formAnswer, bool) {
	var answer formAnswer
	raw, sent := x.message.params.InputResponses[confirmForm]
	return answer, sent && jsonv2.Unmarshal(raw, &answer) == nil
}

// askFor answers a first call with the preview and how to confirm it.
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

var confirmSchema = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, do this",` +
	`"description":"It cannot be taken back.","default":false}},"required":["confirm"]}`)

// declinedResult answers a person who declined, which is not an error.
func (x *exchange) declinedResult() *mcp.CallToolResult {
	const message = "The person did not confirm, so nothing was done and nothing was sent."
	return x.result(message, json.RawMessage(`{"status":"declined","message":"`+message+`"}`))
}
