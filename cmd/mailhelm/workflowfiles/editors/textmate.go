package editors

import (
	_ "embed" // the grammar below
	"encoding/json"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
)

// TextMate is the grammar as JSON, the file workflow.tmLanguage.json of an extension. A test
// writes it.
//
//go:embed workflow.tmLanguage.json
var TextMate string

// pattern is a pattern of the grammar. Its expressions are valid in Oniguruma, which editors
// use, and in Go.
type pattern struct {
	Name  string `json:"name"`
	Match string `json:"match"`
}

// patterns returns the patterns in the order in which they are tried at each position.
func patterns() []pattern {
	const text = `"(?:\\.|[^"\\\n])*"?`
	list := []pattern{
		{"comment.line", `(?:#|//).*`},
		{"string.quoted.double", text},
		{"variable.other.attribute", `\battr\.[A-Za-z0-9_]+`},
		{"entity.name.function.activity", `\bactivity\.(?:` + text + `|[A-Za-z0-9_.-]+)`},
		{"variable.other.property", `\bproperty\.(?:` + text + `|[A-Za-z0-9_]+)`},
		{"constant.other.date", `\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b`},
		{"constant.other.time", `\b[0-9]{1,2}(?::[0-9]{2})?(?:am|pm)\b|\b[0-9]{1,2}:[0-9]{2}\b`},
		{"constant.numeric.duration", `\b[0-9]+(?:\.[0-9]+)?(?:mo|[smhdwy])\b`},
		{"constant.numeric", `\b[0-9]+(?:\.[0-9]+)?`},
	}
	for _, group := range keywordGroups() {
		list = append(list, pattern{group.name, `\b(?:` + strings.Join(group.words, "|") + `)\b`})
	}
	list = append(list, pattern{"keyword.operator", `!=|<=|>=|[=<>%+-]`}, pattern{"punctuation", `[{}()\[\],:]`})
	for i := range list {
		list[i].Name += ".mailhelm-workflow"
	}
	return list
}

// group is keywords with the same colour.
type group struct {
	name  string
	words []string
}

// keywordGroups divides the keywords of the language into groups. Each keyword is in one.
func keywordGroups() []group {
	statements := map[string]bool{}
	for _, rule := range grammar.Rules() {
		for word := range strings.FieldsSeq(rule.Name) {
			statements[word] = true
		}
	}
	constants := []string{"false", "known", "now", "off", "once", "true", "unknown", "v1"}
	functions := append(predicate.MessageEvents(), "avg", "count", "exists", "first", "last", "max", "min", "sum")
	groups := []group{{name: "keyword.control"}, {name: "constant.language"}, {name: "support.function"}, {name: "keyword.other"}}
	for _, word := range grammar.Keywords() {
		at := 3
		switch {
		case statements[word]:
			at = 0
		case slices.Contains(constants, word):
			at = 1
		case slices.Contains(functions, word):
			at = 2
		}
		groups[at].words = append(groups[at].words, word)
	}
	return groups
}

// generate returns the grammar as JSON.
func generate() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Schema    string    `json:"$schema"`
		Name      string    `json:"name"`
		ScopeName string    `json:"scopeName"`
		FileTypes []string  `json:"fileTypes"`
		Patterns  []pattern `json:"patterns"`
	}{
		"https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json", "Mailhelm workflow", "source.mailhelm-workflow",
		[]string{"workflow"},
		patterns(),
	})
	return b.String(), err
}
