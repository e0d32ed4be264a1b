package tools

import (
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// replayedName is the member of a write's structured content that says that nothing was
// done now, and replayedMember the member as it is written.
const (
	replayedName   = "replayed"
	replayedMember = `"` + replayedName + `":true,`
)

// replayedNote is the same for readers of the text alone.
const replayedNote = "Replayed: the same call was made before. This is its result, and nothing was done now. " +
	"To do it again, send a fresh idempotency key."

// withReplayed puts the member in front of the others of an object.
func withReplayed(value json.RawMessage) json.RawMessage {
	if string(value) == "{}" {
		return json.RawMessage(`{"` + replayedName + `":true}`)
	}
	return append(json.RawMessage("{"+replayedMember), value[1:]...)
}

// markReplayed marks a result as that of an earlier call, except in the structured content,
// which has its member already.
func markReplayed(answer *mcp.CallToolResult) {
	answer.Meta[metaReplay] = true
	answer.Content = append(answer.Content, &mcp.TextContent{Text: replayedNote})
}

// allowReplayed declares the member for a tool that writes. It fails when the result has a
// member of that name.
func allowReplayed(op *guardrails.Operation, members map[string]any) error {
	if op.Info().Effect == core.Reads {
		return nil
	}
	if members[replayedName] != nil {
		return fmt.Errorf("the result has a member %q of its own", replayedName)
	}
	members[replayedName] = map[string]any{"type": "boolean"}
	return nil
}
