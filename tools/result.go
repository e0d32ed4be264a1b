package tools

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
)

// toolResult is the result of a tool call. answer.go writes it in the form of a protocol
// revision.
type toolResult struct {
	// text is the result for a model, without invisible characters. hidden is the number of
	// those that were removed.
	text   string
	hidden int
	// structured is the same result for a program.
	structured json.RawMessage
	// untrusted are the paths of the members of structured that contain texts of customers or
	// third parties.
	untrusted []string
	// replayed is true for the result of an earlier call with the same idempotency key.
	replayed bool
	// failed is true if the tool refused or failed.
	failed bool
	// form asks the person for a confirmation. The other members are then not set.
	form *form
}

// form is a form with one checkbox. The client shows it to a person, and repeats the call
// with the answer and the state.
type form struct{ message, state string }

// newToolResult returns a result with this structured content. Its text is the given text
// without invisible characters.
func newToolResult(text string, structured json.RawMessage) *toolResult {
	visible, hidden := core.VisibleText(text)
	return &toolResult{text: visible, hidden: hidden, structured: structured}
}
