package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/content"
)

// ConfirmationArgument is the name of the argument that contains the confirmation token of
// a call. Clients that do not support forms send it.
const ConfirmationArgument = "confirmation_token"

// Replayed is the name of a member in the structured content of a write. It is true if the
// result is that of an earlier call.
const Replayed = "replayed"

// Input returns the input schema of the operation's tool, shortened. For an operation that
// needs confirmation, it adds the argument [ConfirmationArgument], which is not passed to
// the operation.
func Input(op *guardrails.Operation) (json.RawMessage, error) {
	var schema map[string]any
	if err := json.Unmarshal(op.Input(core.Agent).Text(), &schema); err != nil {
		return nil, err
	}
	fold(schema)
	if !op.Info().Confirms {
		return content.Marshal(schema)
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return nil, errors.New("the schema has no properties")
	}
	properties[ConfirmationArgument] = json.RawMessage(
		`{"type":"string","description":"The confirmation_token of the answer that asked for confirmation. Leave it out of the first call; ` +
			`send it, with all other arguments unchanged, only after the person you act for has agreed to the preview."}`)
	return content.Marshal(schema)
}

// fold shortens a schema in place. If the alternatives of a oneOf have different types, it
// merges them into one schema that lists these types. The meaning stays the same, because
// each keyword applies to one type only. It also drops the type of enumerated strings.
func fold(node map[string]any) {
	if alternatives, ok := node["oneOf"].([]any); ok {
		foldAlternatives(node, alternatives)
	}
	if node["enum"] != nil && node["type"] == "string" {
		delete(node, "type")
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if child, ok := node[keyword].(map[string]any); ok {
			fold(child)
		}
	}
	if members, ok := node["properties"].(map[string]any); ok {
		for _, member := range members {
			if child, ok := member.(map[string]any); ok {
				fold(child)
			}
		}
	}
}

// foldAlternatives merges the alternatives of oneOf into node. It changes nothing if two
// alternatives have the same type or keyword, or if one is an enumeration or has no type.
// It also changes nothing if an alternative has a keyword of node.
func foldAlternatives(node map[string]any, alternatives []any) {
	merged, types := map[string]any{}, []any{}
	for _, alternative := range alternatives {
		of, _ := alternative.(map[string]any)
		if of["type"] == nil || slices.Contains(types, of["type"]) {
			return
		}
		types = append(types, of["type"])
		for keyword, value := range of {
			_, twice := merged[keyword]
			_, above := node[keyword]
			if keyword != "type" && (twice || above || keyword == "enum" || keyword == "const") {
				return
			}
			merged[keyword] = value
		}
	}
	delete(node, "oneOf")
	maps.Copy(node, merged)
	node["type"] = types
}

// The members that a tool's structured content has instead of a result, with their JSON
// types: for a failure, and for a request for confirmation. Some clients validate failed
// results against the output schema too, so the schema must allow these members.
var (
	failureMembers = map[string]string{
		"type": "string", "title": "string", "status": "integer", "code": "string", "detail": "string", "message": "string", "hint": "string",
		"next_step": "object", "request_id": "string", "errors": "array", "resource": "string", "retry_after": "integer", "scope": "string",
	}
	confirmationMembers = map[string]string{
		"confirmation_required": "boolean", "status": "string", "message": "string", "preview": "object",
		"confirmation_token": "string", "expires_at": "string",
	}
)

// Output returns the output schema of the operation's tool: one object with the members of
// the result, their types and their values. No member is required, because a failure has
// none of them. It has no descriptions, because agents pay for every byte of the list of
// tools.
func Output(op *guardrails.Operation) (json.RawMessage, error) {
	var own map[string]any
	if err := json.Unmarshal(op.Output(core.Agent).Text(), &own); err != nil {
		return nil, err
	}
	members, _ := lean(own)["properties"].(map[string]any)
	if members == nil {
		members = map[string]any{}
	}
	allow(members, failureMembers)
	if op.Info().Confirms {
		allow(members, confirmationMembers)
		for _, name := range []string{"confirmation_required", "preview", "confirmation_token", "expires_at"} {
			if members[name] == nil {
				members[name] = map[string]any{"type": confirmationMembers[name]}
			}
		}
	}
	if err := allowReplayed(op, members); err != nil {
		return nil, err
	}
	return content.Marshal(map[string]any{"type": "object", "properties": members})
}

// allow extends the schema of each result member whose name is a key of others, so that the
// member may also have the type others[name]. others has the members of a failure or of a
// request for confirmation, which may have the same name but another type.
func allow(members map[string]any, others map[string]string) {
	for name, kind := range others {
		own, clash := members[name].(map[string]any)
		if clash && (own["type"] != kind || own["enum"] != nil) {
			members[name] = map[string]any{"anyOf": []any{own, map[string]any{"type": kind}}}
		}
	}
}

// bookkeeping has the names of members that the output schema omits, because agents rarely
// need them.
var bookkeeping = []string{"created_at", "updated_at"}

// lean returns a copy of a schema with only its structure: members, items, types and
// enumerated values. It leaves out the members of the list bookkeeping.
func lean(schema map[string]any) map[string]any {
	kept := map[string]any{}
	for _, keyword := range []string{"type", "enum"} {
		if v, has := schema[keyword]; has {
			kept[keyword] = v
		}
	}
	if kept["enum"] != nil {
		delete(kept, "type") // the enumerated values already show their types
	}
	if items, ok := schema["items"].(map[string]any); ok {
		kept["items"] = lean(items)
	}
	if members, ok := schema["properties"].(map[string]any); ok {
		short := make(map[string]any, len(members))
		for name, member := range members {
			if of, ok := member.(map[string]any); ok && !slices.Contains(bookkeeping, name) {
				short[name] = lean(of)
			}
		}
		kept["properties"] = short
	}
	return kept
}

// allowReplayed adds the member [Replayed] to the output schema of a tool that writes. It
// fails if the result already has a member of that name.
func allowReplayed(op *guardrails.Operation, members map[string]any) error {
	if op.Info().Effect == core.Reads {
		return nil
	}
	if members[Replayed] != nil {
		return fmt.Errorf("the result has a member %q of its own", Replayed)
	}
	members[Replayed] = map[string]any{"type": "boolean"}
	return nil
}
