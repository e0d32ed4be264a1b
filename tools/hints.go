package tools

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// hints says how an agent can repair an error, by error code. It has the codes for which
// the text of the error catalogue is meant for callers of the REST API. Most of those texts
// mention routes or headers.
var hints = map[core.Code]string{
	core.CodeInvalidKey: "Get an access token from the authorization server with this endpoint's address as `resource`, and send it as " +
		"`Authorization: Bearer`. It lives 15 minutes; then get a new one.",
	core.CodeInvalidScope:              "Get a token with that scope. `WWW-Authenticate` lists all that this tool needs.",
	core.CodeNotFound:                  "Check the address or id. Only what belongs to this organization can be found.",
	core.CodeValidationFailed:          "Correct the named arguments and call again. The tool's input schema says what it takes.",
	core.CodeAttributeValidationFailed: "Correct the values. audience_get_schema lists the attributes and their types.",
	core.CodeUpstreamUnavailable:       "Call again after `retry_after` seconds with the same arguments: a write happens once.",
	core.CodeTemporarilyUnavailable:    "Call again after `retry_after` seconds with the same arguments: a write happens once.",
	core.CodeOverloaded:                "Call again after `retry_after` seconds, and make fewer calls at once.",
	core.CodeMethodNotAllowed:          "Send JSON-RPC requests with POST to `" + endpointPath + "`.",
}

// hintOf returns the text that says how to repair an error: the error's own next step, or
// else the text for its code in hints, or else that of the error catalogue. The text names
// the member retry_after instead of the header Retry-After, because a result has no
// headers.
func hintOf(e *core.Error) string {
	if hint, ok := hints[e.Code]; ok && e.Next == "" {
		return hint
	}
	return strings.ReplaceAll(e.NextStep(), "`Retry-After`", "`retry_after`")
}
