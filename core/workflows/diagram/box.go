package diagram

import "github.com/mailhelm/mailhelm/core/workflows/language"

// box is a rectangle with text: a step, the label of an arm, the entry or the end. As a
// part, it is a step without arms.
type box struct {
	size
	class, path string
	// icon is the name of an icon, "" for none.
	icon string
	// words is the whole text, for the element title.
	words         string
	title, detail []string
	rules         []ruleLines
	// pill is true for round ends, without an icon.
	pill bool
	// aside is a share of contacts who leave at the step, "" if none leave.
	aside string
	// lit is true if the box is highlighted although its path is not.
	lit bool
	// leaves is true if no contact goes on from the step.
	leaves bool
}

// ruleLines is a setting in the box of the entry.
type ruleLines struct {
	class string
	lines []string
}

// stepBox measures the box of a step.
func (c *canvas) stepBox(step language.Step, path string) *box {
	b := &box{class: step.Type(), icon: step.Type(), path: path, words: c.words[path]}
	if _, b.leaves = step.(*language.Leave); b.leaves {
		b.pill, b.title = true, []string{"Exit"}
		b.fit(pillWidth)
		return b
	}
	title, detail := captionOf(step)
	b.caption(boxWidth, title, detail)
	b.fit(boxWidth)
	if held, ok := step.(*language.HoldOut); ok {
		b.aside = itoa(held.Percent) + "% leave"
		b.right += bend + pillWidth
	}
	return b
}

// caption sets the texts, divided into lines for a width.
func (b *box) caption(width int, title, detail string) {
	b.title = wrap(title, width-iconWidth-2*padding, true, 2)
	b.detail = wrap(detail, width-iconWidth-2*padding, false, 4)
}

// fit sets the size for a width.
func (b *box) fit(width int) {
	b.left, b.right = width/2, width-width/2
	b.height = 2*padding + lineHeight*(len(b.title)+len(b.detail))
	if b.pill {
		b.height = padding + lineHeight*len(b.title)
	}
	for _, rule := range b.rules {
		b.height += padding/2 + lineHeight*len(rule.lines)
	}
	if len(b.rules) > 0 {
		b.height += padding
	}
}

func (b *box) room() size       { return b.size }
func (b *box) stepPath() string { return b.path }
func (b *box) continues() bool  { return !b.leaves }

func (b *box) draw(c *canvas, x, y int) { c.box(b, x, y) }
