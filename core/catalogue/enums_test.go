package catalogue_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"pgregory.net/rapid"
)

// TestCaseOfEnumerationsHasNoMeaning makes random valid arguments for each operation with an
// enumeration, and the same arguments with its values in another case. Both must have the
// canonical JSON of the first as their canonical form, and decode to the same input. So the
// spelling never changes a valid call, what is stored, or which call a call repeats.
func TestCaseOfEnumerationsHasNoMeaning(t *testing.T) {
	t.Parallel()
	enumerated := 0
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		for _, surface := range []core.Surface{core.Agent, core.REST} {
			var node schemaNode
			if err := json.Unmarshal(op.Input(surface).Text(), &node); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(op.Input(surface).Text()), `"enum":`) {
				continue
			}
			enumerated++
			t.Run(op.Info().Name+" "+string(surface), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { checkCase(t, op, surface, node) })
			})
		}
	}
	if enumerated < 10 {
		t.Errorf("only %d inputs have an enumeration", enumerated)
	}
}

func checkCase(t *rapid.T, op core.Operation, surface core.Surface, node schemaNode) {
	exact, varied := node.draw(t)
	spelled, other := textOf(t, exact), textOf(t, varied)
	want, err := core.CanonicalJSON(spelled)
	if err != nil {
		t.Fatal(err)
	}
	in, err := op.Decode(surface, spelled)
	if err != nil {
		t.Fatalf("%s: %v", spelled, err)
	}
	again, err := op.Decode(surface, other)
	if err != nil || !reflect.DeepEqual(again, in) {
		t.Fatalf("%s is decoded to %+v (%v), and %s to %+v", other, again, err, spelled, in)
	}
	for _, raw := range [][]byte{spelled, other} {
		if got, err := op.Input(surface).Canonical(raw); err != nil || string(got) != string(want) {
			t.Fatalf("%s has the canonical form %s, want %s (%v)", raw, got, want, err)
		}
	}
}

func textOf(t *rapid.T, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// schemaNode has the keywords of an input schema that decide which values are valid.
type schemaNode struct {
	Type       json.RawMessage       `json:"type"`
	Enum       []*string             `json:"enum"`
	OneOf      []schemaNode          `json:"oneOf"`
	Format     string                `json:"format"`
	Pattern    string                `json:"pattern"`
	MinLength  int                   `json:"minLength"`
	Minimum    float64               `json:"minimum"`
	MinItems   int                   `json:"minItems"`
	Required   []string              `json:"required"`
	Properties map[string]schemaNode `json:"properties"`
	Items      *schemaNode           `json:"items"`
	Others     *schemaNode           `json:"additionalProperties"`
	none       bool                  // the schema false
}

func (n *schemaNode) UnmarshalJSON(text []byte) error {
	type plain schemaNode
	if text[0] != '{' {
		n.none = string(text) == "false"
		return nil
	}
	return json.Unmarshal(text, (*plain)(n))
}

// draw returns a valid value of the schema, and the same value with enumerated texts in
// another case.
func (n schemaNode) draw(t *rapid.T) (exact, varied any) {
	switch {
	case n.OneOf != nil:
		return rapid.SampledFrom(n.OneOf).Draw(t, "alternative").draw(t)
	case n.Enum != nil:
		word := rapid.SampledFrom(n.Enum).Draw(t, "word")
		if word == nil {
			return nil, nil
		}
		return *word, anyCase(t, *word)
	}
	switch n.drawType(t) {
	case "object":
		return n.drawObject(t)
	case "array":
		exacts, others := []any{}, []any{}
		// at most one more than required: some operations refuse two equal items
		for range rapid.IntRange(n.MinItems, n.MinItems+1).Draw(t, "items") {
			exact, varied := n.Items.draw(t)
			exacts, others = append(exacts, exact), append(others, varied)
		}
		return exacts, others
	case "string":
		text := n.drawText(t)
		return text, text
	case "integer", "number":
		return max(1, n.Minimum), max(1, n.Minimum)
	case "boolean":
		return true, true
	}
	return nil, nil
}

func (n schemaNode) drawType(t *rapid.T) string {
	var one string
	var several []string
	if json.Unmarshal(n.Type, &one) != nil && json.Unmarshal(n.Type, &several) == nil {
		return rapid.SampledFrom(several).Draw(t, "type")
	}
	return one
}

// drawObject returns an object with all required and some other members. The names of
// members that the schema does not name look like enumerated words.
func (n schemaNode) drawObject(t *rapid.T) (any, any) {
	exacts, others := map[string]any{}, map[string]any{}
	add := func(name string, of schemaNode) { exacts[name], others[name] = of.draw(t) }
	for _, name := range sortedNames(n.Properties) {
		if slices.Contains(n.Required, name) || rapid.Bool().Draw(t, name) {
			add(name, n.Properties[name])
		}
	}
	if n.Others != nil && !n.Others.none {
		for i := range rapid.IntRange(0, 2).Draw(t, "members") {
			add(fmt.Sprintf("opt_In_%d", i), *n.Others)
		}
	}
	return exacts, others
}

func sortedNames(members map[string]schemaNode) []string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// drawText returns a text that is not enumerated. Where any text is valid, it looks like an
// enumerated word in another case.
func (n schemaNode) drawText(t *rapid.T) string {
	switch n.Format {
	case "email", "idn-email":
		return "Ann@example.com"
	case "date-time":
		return "2026-03-02T08:00:00Z"
	case "uuid":
		return "0190a0b0-0000-7000-8000-000000000000"
	}
	text := rapid.SampledFrom([]string{"opt_in", "Opt_Out", "bounce", "LISTED", "Active", "DAY"}).Draw(t, "text")
	if n.Pattern != "" { // the patterns of inputs allow names such as opt_in
		text = strings.ToLower(text)
	}
	return text + strings.Repeat("x", max(0, n.MinLength-len(text)))
}

// anyCase returns the word with each letter in a random case.
func anyCase(t *rapid.T, word string) string {
	letters := []byte(word)
	for i, c := range letters {
		if isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; isLetter && rapid.Bool().Draw(t, "other case") {
			letters[i] = c ^ 0x20
		}
	}
	return string(letters)
}
