package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
)

// toolPage returns the page of a tool.
func (c Config) toolPage(o operation) (article.Article, error) {
	input, err := parse(o.declared.Input(core.Agent))
	if err != nil {
		return article.Article{}, err
	}
	var b strings.Builder
	b.WriteString(o.details() + "\n\n")
	b.WriteString(o.facts(core.Agent))
	required := func(name string) bool { return slices.Contains(input.Required, name) }
	if table := memberTable(input.Properties, required); table != "" {
		section(&b, "Arguments", table)
	} else {
		section(&b, "Arguments", "None.\n")
	}
	if err := o.result(&b, core.Agent); err != nil {
		return article.Article{}, err
	}
	o.errors(&b, core.Agent)
	shown, err := toolExamples(o)
	return article.Article{
		Path: "/tools/" + o.Name, Title: o.Name, Group: Group, Part: "Tools", Parent: "/tools",
		Summary: article.Escape(o.summary()), Body: b.String(), Examples: shown,
	}, err
}

// toolExamples returns the example of a call of a tool, and its result.
func toolExamples(o operation) ([]article.Example, error) {
	arguments := o.ExampleOn(core.Agent)
	if arguments == "" {
		arguments = "{}"
	}
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, o.Name, arguments)
	shown := []article.Example{{Title: "Call", Texts: []article.Code{{Language: "json", Text: indented([]byte(call))}}}}
	answer, err := examples.Of(o.Name)
	if err != nil || len(answer.Result) == 0 {
		return shown, err
	}
	return append(shown, article.Example{Title: "Result", Texts: []article.Code{{Language: "json", Text: indented(answer.Result)}}}), nil
}

// indented returns a JSON text with indentation.
func indented(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}
