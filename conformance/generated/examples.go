package generated

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// examplesHead is the beginning of the guide with the example workflows.
const examplesHead = `---
title: Example workflows
group: Sending
order: 44
minutes: 10
summary: At the end, you have read six workflows that work, from the simplest to the most complex, with their explanations and drawings, and have one to start from.
---

{{/* Written by "make generate". Change the code it is taken from. */}}
Each workflow is a file in the [language of workflows](/guides/workflow-language). A test runs each of them to its end with contacts that take every branch. Change the names of segments, attributes, topics and templates to yours, and check the file with ` + "`mailhelm check`" + `: see [Write workflows in files](/guides/workflow-files). [Run workflows](/guides/workflows) says how to activate one and read its results.
`

// exampleGuide returns the guide with the source, the explanation and the drawing of each
// example, and the drawings by file name.
func exampleGuide() (guide string, figures map[string]string, err error) {
	var b strings.Builder
	b.WriteString(examplesHead)
	figures = map[string]string{}
	for _, e := range examples.All() {
		checked, err := language.Compile(e.Source, examples.Schema())
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		name := "example-" + e.Key
		figures[name+".svg"] = figure(checked.Tree(), name+"-")
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", checked.Tree().Name, e.About())
		fmt.Fprintf(&b, "```text\n%s```\n\n", e.Source)
		fmt.Fprintf(&b, "![The drawing of the workflow %q. The explanation below has the same steps.](figure:%s)\n\n", checked.Tree().Name, name)
		_, explained, _ := strings.Cut(checked.Explain().String(), "\n\n")
		fmt.Fprintf(&b, "```text\n%s```\n", explained)
	}
	return b.String(), figures, nil
}

// figure returns the drawing of a workflow without the stylesheet and the label, which the page
// has. ids is the prefix of the ids of its elements.
func figure(tree *language.Tree, ids string) string {
	drawing := diagram.Draw(tree, diagram.Options{NoStyle: true, IDs: ids})
	start, end := strings.Index(drawing, ` role="img"`), strings.Index(drawing, ">")
	return drawing[:start] + drawing[end:]
}
