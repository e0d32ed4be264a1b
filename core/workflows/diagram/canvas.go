package diagram

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// canvas collects the elements of a drawing. Frames are behind lines, lines behind boxes,
// and highlighted lines before the others.
type canvas struct {
	options Options
	// words has the whole texts of steps and arms, by their paths.
	words                            map[string]string
	frames, lines, litLines, figures strings.Builder
}

// lit reports whether a step or arm is highlighted.
func (c *canvas) lit(path string) bool {
	if c.options.Lit[path] {
		return true
	}
	if path == "" || !isArm(path) {
		return false
	}
	for lit, on := range c.options.Lit {
		if on && strings.HasPrefix(lit, path+".") {
			return true
		}
	}
	return false
}

// isArm reports whether a path ends with the label of an arm and not with an index.
func isArm(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	return last != "" && (last[0] < '0' || last[0] > '9')
}

// state returns the class of a highlighted or dimmed element, after a space.
func (c *canvas) state(lit bool) string {
	switch {
	case lit:
		return " lit"
	case len(c.options.Lit) > 0:
		return " dim"
	}
	return ""
}

// path adds a line. arrow adds an arrowhead at its end.
func (c *canvas) path(lit, arrow bool, format string, coordinates ...any) {
	to := &c.lines
	if lit {
		to = &c.litLines
	}
	class := "line" + c.state(lit)
	fmt.Fprintf(to, `<path class="%s" d="%s"/>`+"\n", class, fmt.Sprintf(format, coordinates...))
	if arrow {
		x, y := coordinates[len(coordinates)-2].(int), coordinates[len(coordinates)-1].(int)
		fmt.Fprintf(to, `<path class="head%s" d="M%d %dl-5-8h10z"/>`+"\n", c.state(lit), x, y)
	}
}

// arrow draws a line down from one step to the next.
func (c *canvas) arrow(x, from, to int, lit bool) {
	c.path(lit, true, "M%d %dL%d %d", x, from, x, to)
}

// corner is the radius of the bends of lines.
const corner = 8

// branch draws the line from a step to the label of an arm.
func (c *canvas) branch(x, from, at, to int, lit bool) {
	if x == at {
		c.path(lit, false, "M%d %dL%d %d", x, from, at, to)
		return
	}
	side := corner
	if at < x {
		side = -corner
	}
	middle := from + bend
	c.path(lit, false, "M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %dL%d %d", x, from, middle-corner, x, middle, x+side, middle,
		at-side, at, middle, at, middle+corner, at, to)
}

// join draws the line from the end of an arm to the point x, to, at which arms join.
func (c *canvas) join(at, from, x, to int, lit bool) {
	if x == at {
		c.path(lit, false, "M%d %dL%d %d", at, from, x, to)
		return
	}
	side := corner
	if x < at {
		side = -corner
	}
	c.path(lit, false, "M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %d", at, from, to-corner, at, to, at+side, to, x-side, x, to, x, to+corner)
}

// back draws the line from the end of the body of a repetition to its step. side is where
// the line goes up, y the middle of the step and x its left edge.
func (c *canvas) back(at, from, side, y, x int, lit bool) {
	below := from + bend
	to := &c.lines
	if lit {
		to = &c.litLines
	}
	c.path(lit, false, "M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %dV%dQ%d %d %d %dL%d %d", at, from, below-corner, at, below, at-corner, below,
		side+corner, side, below, side, below-corner, y+corner, side, y, side+corner, y, x, y)
	fmt.Fprintf(to, `<path class="head%s" d="M%d %dl-8-5v10z"/>`+"\n", c.state(lit), x, y)
}

// frame draws the dashed rectangle around a repetition.
func (c *canvas) frame(path string, x, y, width, height int, lit bool) {
	fmt.Fprintf(&c.frames, `<g class="arm body%s"%s>%s<rect class="frame" x="%d" y="%d" width="%d" height="%d" rx="12"/></g>`+"\n",
		c.state(lit), c.identity(path), title(c.words[path]), x, y, width, height)
}

// identity returns the attributes that name a step or arm.
func (c *canvas) identity(path string) string {
	if path == "" || path == End || strings.HasSuffix(path, "."+Through) {
		return ""
	}
	return fmt.Sprintf(` id="%sstep-%s" data-path="%s"`, escape(c.options.IDs), path, path)
}

// box draws a box whose upper edge has its middle at x, y.
func (c *canvas) box(b *box, x, y int) {
	w := &c.figures
	left := x - b.left
	width := b.left + boxHalf(b)
	kind := "step"
	if b.class == "arm" || b.class == "entry" || b.class == "end" {
		kind = "mark"
	}
	fmt.Fprintf(w, `<g class="%s %s%s"%s>%s`, kind, b.class, c.state(b.lit || c.lit(b.path) || b.class == "entry"), c.identity(b.path), title(b.words))
	corners := 10
	if b.pill {
		corners = min(b.height/2, 16)
	}
	fmt.Fprintf(w, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, left, y, width, b.height, corners)
	if b.icon != "" && !b.pill {
		fmt.Fprintf(w, `<g class="icon" transform="translate(%d %d)"><circle cx="12" cy="12" r="12"/><path d="%s"/></g>`,
			left+padding-2, y+padding-3, icons[b.icon])
	}
	c.texts(b, x, left, y)
	if b.aside != "" {
		c.aside(b, left+width, y+b.height/2)
	}
	c.count(b, left+width, y)
	w.WriteString("</g>\n")
}

// boxHalf returns the width of a box right of its middle, without what is beside it.
func boxHalf(b *box) int {
	if b.aside != "" {
		return b.right - bend - pillWidth
	}
	return b.right
}

// texts draws the lines of a box.
func (c *canvas) texts(b *box, x, left, y int) {
	w := &c.figures
	at := y + padding + lineHeight - 5
	anchor, textX := "", left+padding+iconWidth
	if b.pill {
		anchor, textX, at = ` text-anchor="middle"`, x, y+padding/2+lineHeight-5
	}
	line := func(class, text string) {
		fmt.Fprintf(w, `<text class="%s" x="%d" y="%d"%s>%s</text>`, class, textX, at, anchor, escape(text))
		at += lineHeight
	}
	for _, text := range b.title {
		line("title", text)
	}
	for _, text := range b.detail {
		line("detail", text)
	}
	if len(b.rules) == 0 {
		return
	}
	rule := y + 2*padding + lineHeight*(len(b.title)+len(b.detail)) - padding/4
	fmt.Fprintf(w, `<path class="rule" d="M%d %dH%d"/>`, left, rule, left+b.left+b.right)
	at += padding
	textX = left + ruleIndent
	for _, r := range b.rules {
		at += padding / 2
		fmt.Fprintf(w, `<circle class="dot %s" cx="%d" cy="%d" r="4"/>`, r.class, left+padding+10, at-4)
		for _, text := range r.lines {
			line("detail", text)
		}
	}
}

// aside draws the share of contacts who leave at a step, right of its box.
func (c *canvas) aside(b *box, x, y int) {
	height := padding + lineHeight
	fmt.Fprintf(&c.figures, `<path class="line" d="M%d %dH%d"/><rect class="box leaving" x="%d" y="%d" width="%d" height="%d" rx="16"/>`,
		x, y, x+bend, x+bend, y-height/2, pillWidth, height)
	fmt.Fprintf(&c.figures, `<text class="title" x="%d" y="%d" text-anchor="middle">%s</text>`, x+bend+pillWidth/2, y+5, escape(b.aside))
}

// count draws the number at the upper right corner of a step.
func (c *canvas) count(b *box, right, y int) {
	n, counted := c.options.Counts[b.path]
	if !counted {
		return
	}
	text := itoa(n)
	width := textWidth(text, true) + 16
	words := strings.TrimSpace(text + " " + c.options.CountLabel)
	fmt.Fprintf(&c.figures, `<g class="count">%s<rect class="badge" x="%d" y="%d" width="%d" height="20" rx="10"/><text x="%d" y="%d" text-anchor="middle">%s</text></g>`,
		title(words), right-width+8, y-10, width, right+8-width/2, y+4, text)
}

// svg returns the whole drawing.
func (c *canvas) svg(name string, width, height int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="workflow-diagram" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, escape("The steps of the workflow "+name))
	if !c.options.NoStyle {
		b.WriteString("<style>\n" + Stylesheet + "</style>\n")
	}
	for _, layer := range []*strings.Builder{&c.frames, &c.lines, &c.litLines, &c.figures} {
		b.WriteString(layer.String())
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// title returns an element title, or "" for no text.
func title(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + escape(text) + "</title>"
}

// escape returns a text for XML. Characters that XML does not allow become U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder does not fail
	return b.String()
}
