package tools

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/schema"
)

// These tools help after an error. repairs has them by error code. finders has, by kind of
// resource, the tool that finds a resource that was not found. An error may name its own
// call instead; see [core.Error.WithCall].
var (
	repairs = map[core.Code]string{
		core.CodeAttributeValidationFailed:    "audience_get_schema",
		core.CodeNoTopicAcknowledgementNeeded: "audience_get_schema",
	}
	finders = map[string]string{
		"list":     "lists_list",
		"message":  "messages_search",
		"segment":  "segments_list",
		"template": "templates_list",
		"topic":    "audience_get_schema",
	}
)

// nextCall returns the tool call that repairs an error. It returns nil if no call repairs
// it, if the caller may not call that tool, or if it is the tool of this request. For an
// invalid confirmation token it returns the call that the agent made, without this token.
func (s *toolset) nextCall(x *exchange, e *core.Error) *core.NextCall {
	if e.Code == core.CodeConfirmationInvalid {
		return s.startAgain(x)
	}
	next := e.Call
	if next == nil {
		name := repairs[e.Code]
		if e.Code == core.CodeNotFound {
			name = finders[e.Resource]
		}
		next = &core.NextCall{Operation: name, Arguments: map[string]any{}}
	}
	t, mounted := s.byName[next.Operation]
	if !mounted || next.Operation == x.tool || t.checkAllowed(x.principal) != nil {
		return nil
	}
	return next
}

// startAgain returns the present call without its confirmation token, for a call that was
// refused because of this token. It returns nil if the arguments are invalid, or too long
// to repeat in the answer.
func (s *toolset) startAgain(x *exchange) *core.NextCall {
	const longest = 2 << 10
	raw := argumentsOf(x.message.Params.Arguments)
	arguments := map[string]any{}
	if len(raw) > longest || len(raw) > 0 && json.Unmarshal(raw, &arguments) != nil {
		return nil
	}
	delete(arguments, schema.ConfirmationArgument)
	return &core.NextCall{Operation: x.tool, Arguments: arguments}
}

// sentence returns a sentence that advises the agent to make the call in the parameter
// next, which can repair an error. It returns "" if next is nil. It also returns "" if next
// calls the tool of this request: the hint of the error already says to call that tool
// again.
func (x *exchange) sentence(next *core.NextCall) string {
	if next == nil || next.Operation == x.tool {
		return ""
	}
	arguments, err := jsonv2.Marshal(next.Arguments, jsonv2.Deterministic(true))
	if err != nil {
		return ""
	}
	return " Next: " + next.Operation + " " + string(arguments)
}
