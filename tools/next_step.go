package tools

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/schema"
)

// Calls that repair what an error's code or resource says by itself. An error
// that knows better carries its own, see [core.Error.WithCall].
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

// nextCall returns the call that repairs the refusal, nil without a call that this
// caller may make. The tool that refused is no repair of itself, but for a
// confirmation, which starts again without its token.
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

// startAgain is the same call without a confirmation. Arguments that are long are
// the caller's to repeat.
func (s *toolset) startAgain(x *exchange) *core.NextCall {
	const longest = 2 << 10
	raw := argumentsOf(x.message.params.Arguments)
	arguments := map[string]any{}
	if len(raw) > longest || len(raw) > 0 && json.Unmarshal(raw, &arguments) != nil {
		return nil
	}
	delete(arguments, schema.ConfirmationArgument)
	return &core.NextCall{Operation: x.tool, Arguments: arguments}
}

// sentence is the call as text has it. Starting again is what the hint says, in
// the same words whatever the arguments were.
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
