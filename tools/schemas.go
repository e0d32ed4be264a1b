package tools

import (
	"encoding/json"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// confirmationArgument is the argument by which a client without forms confirms.
const confirmationArgument = "confirmation_token"

// inputSchema is the operation's own, and for one that confirms also the
// argument that carries the confirmation, which the operation never sees.
func inputSchema(op *guardrails.Operation) (json.RawMessage, error) {
	own := op.Input(core.Agent).Text()
	if !op.Info().Confirms {
		return own, nil
	}
	var schema, properties map[string]json.RawMessage
	if err := json.Unmarshal(own, &schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(schema["properties"], &properties); err != nil {
		return nil, err
	}
	properties[confirmationArgument] = json.RawMessage(
		`{"type":"string","description":"The confirmation_token of the answer that asked for confirmation. Leave it out of the first call; ` +
			`send it, with all other arguments unchanged, only after the person you act for has agreed to the preview."}`)
	encoded, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	schema["properties"] = encoded
	return json.Marshal(schema)
}

// The other things a tool's structured content can be. Clients are known to hold
// failed results against the output schema too, so it has to allow them.
const (
	failureSchema      = `{"required":["code","message"]}`
	confirmationSchema = `{"properties":{"status":{"enum":["confirmation_required","declined"]},"preview":{"type":"object"},` +
		`"confirmation_token":{"type":"string"},"expires_at":{"type":"string","format":"date-time"}},"required":["status"]}`
)

// outputSchema says everything the structured content can be. Its root has the
// type object because the protocol demands one. Descriptions are left out: a
// result shows its reader more than they would, and agents pay for every word of
// the list.
func outputSchema(op *guardrails.Operation) (json.RawMessage, error) {
	var own any
	if err := json.Unmarshal(op.Output(core.Agent).Text(), &own); err != nil {
		return nil, err
	}
	dropDescriptions(own)
	form, err := marshal(own)
	if err != nil {
		return nil, err
	}
	forms := []string{string(form), failureSchema}
	if op.Info().Confirms {
		forms = append(forms, confirmationSchema)
	}
	return json.RawMessage(`{"type":"object","anyOf":[` + strings.Join(forms, ",") + `]}`), nil
}

// dropDescriptions leaves a property of the name alone: that is an object.
func dropDescriptions(schema any) {
	switch node := schema.(type) {
	case map[string]any:
		if _, keyword := node["description"].(string); keyword {
			delete(node, "description")
		}
		for _, child := range node {
			dropDescriptions(child)
		}
	case []any:
		for _, child := range node {
			dropDescriptions(child)
		}
	}
}
