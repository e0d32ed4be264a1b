package tools

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/tools/schema"
)

// replayedMember is the JSON of the member [schema.Replayed] with a comma, to insert into
// an object.
const replayedMember = `"` + schema.Replayed + `":true,`

// replayedNote is the text that marks a result as the result of an earlier call.
const replayedNote = "Replayed: the same call was made before. This is its result, and nothing was done now. " +
	"To do it again, send a fresh idempotency key."

// withReplayed returns the JSON object with the member [schema.Replayed] inserted at its
// start.
func withReplayed(value json.RawMessage) json.RawMessage {
	if string(value) == "{}" {
		return json.RawMessage(`{"` + schema.Replayed + `":true}`)
	}
	return append(json.RawMessage("{"+replayedMember), value[1:]...)
}
