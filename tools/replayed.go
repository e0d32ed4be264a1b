package tools

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/tools/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replayedMember is [schema.Replayed] as it is written.
const replayedMember = `"` + schema.Replayed + `":true,`

// replayedNote is the same for readers of the text alone.
const replayedNote = "Replayed: the same call was made before. This is its result, and nothing was done now. " +
	"To do it again, send a fresh idempotency key."

// withReplayed puts the member in front of the others of an object.
func withReplayed(value json.RawMessage) json.RawMessage {
	if string(value) == "{}" {
		return json.RawMessage(`{"` + schema.Replayed + `":true}`)
	}
	return append(json.RawMessage("{"+replayedMember), value[1:]...)
}

// markReplayed marks a result as that of an earlier call, except in the structured content,
// which has its member already.
func markReplayed(answer *mcp.CallToolResult) {
	answer.Meta[metaReplay] = true
	answer.Content = append(answer.Content, &mcp.TextContent{Text: replayedNote})
}
