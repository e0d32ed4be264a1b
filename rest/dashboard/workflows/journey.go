package workflows

import (
	"html/template"

	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// journey is a workflow in words and as a drawing.
type journey struct {
	Settings []string
	Steps    []stepLine
	Drawing  template.HTML // the stylesheet of the dashboard has its colours
}

// stepLine is a step of a journey in words, or the heading of an arm.
type stepLine struct {
	Path, Text string
	Depth      int
	Heading    bool
	Lit        bool // the shown contact passes it
}

// journeyOf returns the journey of a tree, or of its checked form if it is not nil.
func journeyOf(tree *language.Tree, checked *language.Checked, o diagram.Options) *journey {
	if tree == nil {
		return nil
	}
	said := tree.Explain()
	if checked != nil {
		said = checked.Explain()
	}
	j := &journey{Drawing: draw(tree, o)}
	for _, sentence := range said.Settings {
		j.Settings = append(j.Settings, frame.PlainName(sentence))
	}
	for _, line := range said.Steps {
		j.Steps = append(j.Steps, stepLine{line.Path, frame.PlainName(line.Text), line.Depth, line.Heading, o.Lit[line.Path]})
	}
	return j
}

// draw returns the drawing of a workflow. All texts in it are escaped.
func draw(tree *language.Tree, o diagram.Options) template.HTML {
	o.NoStyle = true
	return template.HTML(frame.PlainName(diagram.Draw(tree, o))) //nolint:gosec // package diagram escapes all texts
}

// wordsOfSteps returns the steps of a workflow in words, by their paths.
func wordsOfSteps(tree *language.Tree) map[string]string {
	words := map[string]string{}
	if tree == nil {
		return words
	}
	for _, line := range tree.Explain().Steps {
		words[line.Path] = frame.PlainName(line.Text)
	}
	return words
}
