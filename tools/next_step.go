package tools

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/schema"
)

// The calls that repair the errors of one code or one resource. An error may have its own
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

// nextCall returns the call that repairs the refusal. It returns nil if no tool repairs it,
// or if the caller may not call that tool. It returns the tool that refused only for an
// invalid confirmation: then the same call starts again without its token.
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

// startAgain returns the same call without a confirmation. It returns nil for long
// arguments, which the caller has to repeat, and for invalid ones.
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

// sentence returns the call as text. For a call that starts again it returns the hint, which
// is the same for all arguments.
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
