package tools

import (
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/mailhelm/mailhelm/tools/schema"
)

// An operation that needs confirmation takes two calls. The first one returns a
// confirmation token. A client that shows forms gets the token as the request state of a
// form. The client returns the request state unchanged, with the answer to the form. Any
// other client gets the token in a plain result and sends it back as an argument. A token
// is valid for one of the two ways only. A request state without the answer to the form
// confirms nothing, because a client could resend the request state automatically.

// confirmForm is the name under which a result requests the confirmation form, and the name
// of the form's only field.
const confirmForm = "confirm"

// maxQuestion is the maximum length of the message that asks for a confirmation, in
// characters.
const maxQuestion = 2000

// confirmation returns the arguments without the confirmation token, and the token. The
// token is "" if the call has none, or if the person did not agree in the form.
func (x *exchange) confirmation(arguments json.RawMessage) (json.RawMessage, string, error) {
	members := rpc.Members(jsontext.Value(arguments))
	raw, sent := members[schema.ConfirmationArgument]
	if sent {
		delete(members, schema.ConfirmationArgument)
		rest, err := jsonv2.Marshal(members, jsonv2.Deterministic(true))
		if err != nil {
			return nil, "", core.Internal(err)
		}
		arguments = json.RawMessage(rest)
	}
	if x.message.Elicits() {
		if x.isAcceptedInForm() {
			return arguments, x.message.Params.RequestState, nil
		}
		return arguments, "", nil
	}
	var token string
	if sent && (raw.Kind() != '"' || jsonv2.Unmarshal(raw, &token) != nil) {
		return nil, "", core.Invalid(schema.ConfirmationArgument, "must be string")
	}
	return arguments, token, nil
}

// confirmationForm returns the way in which this client confirms: "form" or "argument"; see
// guardrails.Request.
func (x *exchange) confirmationForm() string {
	if x.message.Elicits() {
		return "form"
	}
	return "argument"
}

// formAnswer is the client's answer to the confirmation form.
type formAnswer struct {
	Action  string `json:"action"`
	Content struct {
		Confirm bool `json:"confirm"`
	} `json:"content"`
}

// isAcceptedInForm reports whether the person accepted the confirmation form and selected
// its checkbox.
func (x *exchange) isAcceptedInForm() bool {
	answer, ok := x.formAnswer()
	return ok && answer.Action == "accept" && answer.Content.Confirm
}

// declines reports whether the client showed the confirmation form and the person did not
// agree. An accepted form without the selected checkbox counts as declined.
func (x *exchange) declines() bool {
	_, sent := x.message.Params.InputResponses[confirmForm]
	return sent && x.message.Elicits() && !x.isAcceptedInForm()
}

// formAnswer returns the client's answer to the confirmation form. It returns false if the
// call has no valid answer.
func (x *exchange) formAnswer() (formAnswer, bool) {
	var answer formAnswer
	raw, sent := x.message.Params.InputResponses[confirmForm]
	return answer, sent && jsonv2.Unmarshal(raw, &answer) == nil
}

// askFor returns the result that asks for a confirmation. A client that supports forms gets
// a form. Any other client gets a preview of what the call would do, and the confirmation
// token.
func (s *toolset) askFor(x *exchange, asked *guardrails.ConfirmationRequired) *toolResult {
	// without invisible characters, because a person reads the message
	message := content.Clip(core.OnlyVisible(asked.Message), maxQuestion)
	if x.message.Elicits() {
		return &toolResult{form: &form{message: message, state: asked.Token}}
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
	answer := newToolResult("Nothing was done yet. "+message+
		" Show this to the person you act for. If they agree, repeat the call with the same arguments and confirmation_token "+asked.Token+
		" before "+asked.ExpiresAt.Format(time.RFC3339)+".", value)
	answer.untrusted = []string{"preview"}
	return answer
}

// confirmSchema is the JSON schema of the confirmation form: one checkbox.
var confirmSchema = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, do this",` +
	`"description":"This cannot be undone.","default":false}},"required":["confirm"]}`)

// declinedResult returns the result of a call that the person declined. It is not an error.
func declinedResult() *toolResult {
	const message = "The person did not confirm, so nothing was done and nothing was sent."
	return newToolResult(message, json.RawMessage(`{"status":"declined","message":"`+message+`"}`))
}
