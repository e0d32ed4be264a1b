package parity

import (
	"slices"
	"strings"
)

// declaredBy returns the kinds of values of each member that a JSON schema describes. The
// format is that of [shape.declared], so that both can be compared.
func declaredBy(schema map[string]any) map[string]string {
	texts := map[string]string{}
	declareMembers(texts, "", schema)
	return texts
}

func declareMembers(texts map[string]string, path string, schema map[string]any) {
	required, _ := schema["required"].([]any)
	members, _ := schema["properties"].(map[string]any)
	for name, of := range members {
		of, _ := of.(map[string]any)
		declare(texts, strings.TrimPrefix(path+"."+name, "."), of, !slices.Contains(required, any(name)))
	}
}

func declare(texts map[string]string, path string, schema map[string]any, optional bool) {
	// the output schema of a tool is anyOf: one schema for success and one for failure
	if either, ok := schema["anyOf"].([]any); ok {
		schema, _ = either[0].(map[string]any)
	}
	values, _ := schema["enum"].([]any)
	var types, kinds []string
	switch kind := schema["type"].(type) {
	case string:
		types = []string{kind}
	case []any:
		for _, one := range kind {
			types = append(types, one.(string))
		}
	default: // the values show it
		types = []string{"string"}
		if slices.Contains(values, nil) {
			types = append(types, "null")
		}
	}
	for _, kind := range types {
		kinds = append(kinds, kindsBy(kind, values, schema)...)
	}
	texts[path] = declaration(kinds, optional)
	if items, ok := schema["items"].(map[string]any); ok {
		declare(texts, path+"[]", items, false)
	}
	declareMembers(texts, path, schema)
}

// kindsBy returns the kinds of values (see [member]) that a type in a JSON schema allows.
func kindsBy(kind string, values []any, schema map[string]any) []string {
	switch {
	case kind == "string" && len(values) > 0:
		var words []string
		for _, v := range values {
			if v, is := v.(string); is {
				words = append(words, "="+v)
			}
		}
		return words
	case kind == "string" && schema["format"] == "date-time":
		return []string{"time"}
	case kind == "string" && schema["format"] == "uuid":
		return []string{"uuid"}
	case kind == "object" && schema["properties"] == nil:
		return []string{"open"}
	}
	names := map[string]string{"string": "text", "integer": "int", "boolean": "bool"}
	if name, other := names[kind]; other {
		return []string{name}
	}
	return []string{kind}
}
