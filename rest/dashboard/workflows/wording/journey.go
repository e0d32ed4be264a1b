package wording

import (
	"html/template"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Journey is a workflow in words and as a drawing.
type Journey struct {
	Settings []string
	Steps    []StepLine
	Drawing  template.HTML // the stylesheet of the dashboard has its colours
}

// StepLine is a step of a journey in words, or the heading of an arm.
type StepLine struct {
	Path, Text string
	Depth      int
	Heading    bool
	Lit        bool // the shown contact passes it
}

// JourneyOf returns the journey of a tree, or of its checked form if it is not nil.
func JourneyOf(tree *language.Tree, checked *language.Checked, o diagram.Options) *Journey {
	if tree == nil {
		return nil
	}
	said := tree.Explain()
	if checked != nil {
		said = checked.Explain()
	}
	j := &Journey{Drawing: draw(tree, o)}
	for _, sentence := range said.Settings {
		j.Settings = append(j.Settings, core.OnlyVisible(sentence))
	}
	for _, line := range said.Steps {
		j.Steps = append(j.Steps, StepLine{line.Path, core.OnlyVisible(line.Text), line.Depth, line.Heading, o.Lit[line.Path]})
	}
	return j
}

// draw returns the drawing of a workflow. All texts in it are escaped.
func draw(tree *language.Tree, o diagram.Options) template.HTML {
	o.NoStyle = true
	return template.HTML(core.OnlyVisible(diagram.Draw(tree, o))) //nolint:gosec // package diagram escapes all texts
}

// OfSteps returns the steps of a workflow in words, by their paths.
func OfSteps(tree *language.Tree) map[string]string {
	words := map[string]string{}
	if tree == nil {
		return words
	}
	for _, line := range tree.Explain().Steps {
		words[line.Path] = core.OnlyVisible(line.Text)
	}
	return words
}

// TreeOf returns the syntax tree of a source, nil for one that does not parse.
func TreeOf(source string) *language.Tree {
	tree, err := language.Parse(source)
	if err != nil {
		return nil
	}
	return tree
}

// StepAt returns the step with a path, nil if there is none.
func StepAt(tree *language.Tree, path string) language.Step {
	if tree == nil {
		return nil
	}
	for located := range tree.All() {
		if located.Path == path {
			return located.Step
		}
	}
	return nil
}
