package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Rewritten returns what a rewrite makes of a value by a change that depends on the value:
// Redact, Items, Outcomes or Rows. JSON that cannot be read becomes an error, because a part
// of it could stay.
func (m Mention) Rewritten(change Change, value string) (string, error) {
	switch change {
	case Redact:
		return m.Redact(value), nil
	case Items:
		return m.items(value, func(json.RawMessage) (any, error) { return struct{}{}, nil })
	case Outcomes:
		return m.items(value, emptyTexts)
	case Rows:
		return m.withoutRows(value)
	default:
		return "", fmt.Errorf("privacy: the change %q does not depend on the value", change)
	}
}

// DependsOnValue reports whether the new value of a column depends on the old one.
func (c Change) DependsOnValue() bool { return c == Redact || c == Items || c == Outcomes || c == Rows }

// items replaces the elements of a JSON array that mention the person.
func (m Mention) items(value string, replace func(json.RawMessage) (any, error)) (string, error) {
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(value), &all); err != nil {
		return "", fmt.Errorf("privacy: items: %w", err)
	}
	for i, item := range all {
		if !m.Matches(string(item)) {
			continue
		}
		instead, err := replace(item)
		if err == nil {
			all[i], err = json.Marshal(instead)
		}
		if err != nil {
			return "", err
		}
	}
	return encode(all)
}

// emptyTexts returns an object without the texts in it, except the member status.
func emptyTexts(item json.RawMessage) (any, error) {
	var object map[string]any
	if err := json.Unmarshal(item, &object); err != nil {
		return nil, fmt.Errorf("privacy: outcome: %w", err)
	}
	for name, value := range object {
		switch value.(type) {
		case string:
			if name != "status" {
				object[name] = ""
			}
		case []any, map[string]any:
			delete(object, name)
		}
	}
	return object, nil
}

// withoutRows removes from a JSON document the elements that mention the person: those of the
// outermost array around each mention. A mention outside of arrays is redacted.
func (m Mention) withoutRows(value string) (string, error) {
	if value == "" || !m.Matches(value) {
		return value, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return "", fmt.Errorf("privacy: document: %w", err)
	}
	return encode(m.without(document))
}

func (m Mention) without(value any) any {
	switch v := value.(type) {
	case string:
		return m.Redact(v)
	case map[string]any:
		for name, member := range v {
			v[name] = m.without(member)
		}
		return v
	case []any:
		kept := make([]any, 0, len(v))
		for _, element := range v {
			if text, err := json.Marshal(element); err != nil || !m.Matches(string(text)) {
				kept = append(kept, element)
			}
		}
		return kept
	default:
		return value
	}
}

func encode(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("privacy: encode: %w", err)
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// Own returns the elements of a JSON document that mention the person: those of the outermost
// arrays around each mention, as one array. It returns nil if there are none.
func (m Mention) Own(value string) (json.RawMessage, error) {
	if value == "" || !m.Matches(value) {
		return nil, nil
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("privacy: document: %w", err)
	}
	own := m.own(document, nil)
	if len(own) == 0 {
		return nil, nil
	}
	text, err := encode(own)
	return json.RawMessage(text), err
}

func (m Mention) own(value any, found []any) []any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = m.own(v[name], found)
		}
	case []any:
		for _, element := range v {
			if text, err := json.Marshal(element); err == nil && m.Matches(string(text)) {
				found = append(found, element)
			}
		}
	}
	return found
}
