package simulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Render replaces the variables of a template by values from data, a JSON object or "". A
// variable is {{name}}, or a path such as {{order.number}}. White space around the name and
// a third brace are ignored, and values are not escaped. missing is the first variable
// without a value, or "" if all have one.
//
// Blocks such as {{#if}} and {{#each}} are not evaluated: their content is rendered once,
// and variables in it may be missing. Render fails with Invalid if data is not a JSON
// object.
func Render(t sending.Template, data string) (rendered sending.Template, missing string, err error) {
	values, err := decodeData(data)
	if err != nil {
		return sending.Template{}, "", err
	}
	rendered.Name = t.Name
	for _, part := range []struct {
		into *string
		text string
	}{{&rendered.Subject, t.Subject}, {&rendered.Text, t.Text}, {&rendered.HTML, t.HTML}} {
		var lacks string
		*part.into, lacks = fill(part.text, values)
		if missing == "" {
			missing = lacks
		}
	}
	return rendered, missing, nil
}

func decodeData(data string) (map[string]any, error) {
	values := map[string]any{}
	if data == "" {
		return values, nil
	}
	if err := json.Unmarshal([]byte(data), &values); err != nil || values == nil {
		return nil, invalid("the template data is no JSON object")
	}
	return values, nil
}

// mergeData returns a JSON object with the members of both objects. own is the recipient's
// data; a member of own replaces a member of defaults with the same name.
func mergeData(defaults, own string) (string, error) {
	values, err := decodeData(defaults)
	if err != nil {
		return "", err
	}
	ours, err := decodeData(own)
	if err != nil {
		return "", err
	}
	maps.Copy(values, ours)
	merged, err := json.Marshal(values)
	return string(merged), err
}

func fill(text string, values map[string]any) (filled, missing string) {
	var b strings.Builder
	depth := 0
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		tag, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			if found {
				b.WriteString("{{" + rest)
			}
			return b.String(), missing
		}
		text = after
		if strings.HasPrefix(tag, "{") { // {{{name}}}
			text = strings.TrimPrefix(text, "}")
		}
		name := strings.TrimSpace(strings.TrimPrefix(tag, "{"))
		switch {
		case strings.HasPrefix(name, "#"), strings.HasPrefix(name, "^"):
			depth++
		case strings.HasPrefix(name, "/"):
			depth = max(depth-1, 0)
		case strings.HasPrefix(name, "!"), name == "else":
		default:
			value, ok := lookup(values, name)
			b.WriteString(value)
			if !ok && depth == 0 && missing == "" {
				missing = name
			}
		}
	}
}

func lookup(values map[string]any, path string) (string, bool) {
	var value any = values
	for step := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return "", false
		}
		if value, ok = object[step]; !ok {
			return "", false
		}
	}
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		return fmt.Sprint(v), true
	}
}
