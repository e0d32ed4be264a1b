package tools

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/tools/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replayedMember is the member [schema.Replayed] in JSON, with a comma.
const replayedMember = `"` + schema.Replayed + `":true,`

// replayedNote says the same in the text of a result.
const replayedNote = "Replayed: the same call was made before. This is its result, and nothing was done now. " +
	"To do it again, send a fresh idempotency key."

// withReplayed returns the object with the member at its start.
func withReplayed(value json.RawMessage) json.RawMessage {
	if string(value) == "{}" {
		return json.RawMessage(`{"` + schema.Replayed + `":true}`)
	}
	return append(json.RawMessage("{"+replayedMember), value[1:]...)
}

// markReplayed marks the text of a result as the result of an earlier call. The structured
// content has its own member.
func markReplayed(answer *mcp.CallToolResult) {
	answer.Meta[metaReplay] = true
	answer.Content = append(answer.Content, &mcp.TextContent{Text: replayedNote})
}
