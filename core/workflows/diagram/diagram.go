package diagram

import (
	_ "embed" // the stylesheet
	"strings"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Stylesheet has the colours and fonts of the drawings. All its rules begin with the class
// "workflow-diagram".
//
//go:embed diagram.css
var Stylesheet string

// End is the path in [Options] that stands for the end of the workflow.
const End = "end"

// Options says what a drawing shows beside the workflow.
type Options struct {
	// IDs is a prefix of the ids of elements, for pages with several drawings. An id is the
	// prefix, "step-" and the path.
	IDs string
	// Counts has numbers that are shown at steps, arms and End, by their paths, such as the
	// contacts in the step.
	Counts map[string]int
	// CountLabel says what the counts are, such as "contacts here".
	CountLabel string
	// Lit has the paths of steps and arms, or End, that are highlighted; others are dimmed. An
	// arm with a highlighted step is highlighted too, and so is the way from a highlighted
	// step past its arms (see [Through]) to a highlighted next step. If Lit is empty, nothing is dimmed.
	Lit map[string]bool
	// NoStyle leaves out the stylesheet, for pages that have [Stylesheet] already.
	NoStyle bool
}

// Draw returns the workflow as an element svg. It is as wide as the workflow needs, and
// becomes smaller with its container.
func Draw(tree *language.Tree, o Options) string {
	c := &canvas{options: o, words: map[string]string{}}
	for _, line := range tree.Explain().Steps {
		c.words[line.Path] = line.Text
	}
	start := entryOf(tree)
	steps := c.sequence(tree.Body.Steps, "", "")
	end := &box{pill: true, class: "end", path: End, title: []string{"End"}}
	end.fit(pillWidth)
	left, right := max(steps.left, start.left), max(steps.right, start.right)
	x := left + margin
	start.draw(c, x, margin)
	y := margin + start.height
	top := y + gap
	c.arrow(x, y, top, c.lit(steps.firstPath()))
	steps.draw(c, x, top)
	y = top + steps.height
	if steps.open {
		c.arrow(x, y, y+gap, c.lit(End))
		end.draw(c, x, y+gap)
		y += gap + end.height
	}
	return c.svg(tree.Name, left+right+2*margin, y+margin)
}

// entryOf returns the box with the trigger and the settings.
func entryOf(tree *language.Tree) *box {
	b := &box{class: "entry", icon: "entry", words: strings.Join(tree.Explain().Settings, "\n")}
	b.caption(entryWidth, triggerTitle(tree.Settings.Trigger), "")
	for _, rule := range rulesOf(tree.Settings) {
		b.rules = append(b.rules, ruleLines{rule.class, wrap(rule.text, entryWidth-ruleIndent-padding, false, 3)})
	}
	b.fit(entryWidth)
	return b
}
