package tools

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// hints replaces those remedies of the error catalogue that mention routes, which an agent
// cannot call. The problem's next_step keeps the catalogue's remedy, so that a tool and a
// route give the same problem.
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

// hintOf returns the error's own next step, or the remedy for agents. For a wait it names
// the member retry_after, because a result has no headers.
func hintOf(e *core.Error) string {
	if hint, ok := hints[e.Code]; ok && e.Next == "" {
		return hint
	}
	return strings.ReplaceAll(e.NextStep(), "`Retry-After`", "`retry_after`")
}
