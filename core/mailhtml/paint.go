package mailhtml

import (
	"strconv"
	"strings"
)

// paint is how the text in an element is painted, as far as data does not decide it.
type paint struct {
	text, background colour
	// textKnown and backgroundKnown are false if data, an image or the mail program decides.
	textKnown, backgroundKnown bool
	// size is the font size in pixels, bold is true for bold text.
	size float64
	bold bool
}

// defaultPaint is that of a mail without styles.
var defaultPaint = paint{text: black, background: white, textKnown: true, backgroundKnown: true, size: 16}

// headingSizes has the font sizes of headings in pixels, as browsers show them.
var headingSizes = map[string]float64{"h1": 32, "h2": 24, "h3": 18.72, "h4": 16, "h5": 13.28, "h6": 10.72}

// paintAll returns the paint of each element. The rules must have been applied.
func (d *document) paintAll() map[*element]paint {
	all := make(map[*element]paint, len(d.elements)+1)
	all[d.root] = defaultPaint
	for _, e := range d.elements {
		parent := e.parent
		if parent.tag < 0 && parent.parent != nil {
			all[parent] = all[parent.parent]
		}
		p := all[parent]
		p.apply(d, e)
		all[e] = p
	}
	return all
}

// apply changes the paint of an element's parent to that of the element.
func (p *paint) apply(d *document, e *element) {
	if size, ok := headingSizes[e.name]; ok {
		p.size, p.bold = size, true
	}
	switch e.name {
	case "b", "strong", "th":
		p.bold = true
	case "a":
		p.textKnown = false // the mail program has a colour for links
	}
	t := d.tokens[e.tag]
	for _, a := range t.attributes {
		p.attribute(e.name, a, d.source[a.valueStart:a.valueEnd])
	}
	if e.style.unsure || t.loose {
		p.textKnown, p.backgroundKnown = false, false
		return
	}
	for _, one := range e.style.merged {
		p.declaration(one, lowerASCII(one.value))
	}
}

// attribute applies a presentational attribute of an element.
func (p *paint) attribute(element string, a attribute, value string) {
	switch {
	case a.name == "bgcolor":
		p.background, p.backgroundKnown = parseColour(value)
		p.backgroundKnown = p.backgroundKnown && !a.conditional
	case a.name == "background":
		p.backgroundKnown = false
	case a.name == "text" && element == "body", a.name == "color" && element == "font":
		p.text, p.textKnown = parseColour(value)
		p.textKnown = p.textKnown && !a.conditional
	}
}

// declaration applies a declaration. value is in lower case.
func (p *paint) declaration(d declaration, value string) {
	switch d.property {
	case "color":
		if value != "inherit" {
			p.text, p.textKnown = parseColour(value)
		}
	case "background", "background-color":
		switch value {
		case "transparent", "none", "inherit", "initial", "unset":
		default:
			p.background, p.backgroundKnown = parseColour(value)
		}
	case "background-image":
		p.backgroundKnown = p.backgroundKnown && value == "none"
	case "font-size":
		if size, err := strconv.ParseFloat(strings.TrimSuffix(value, "px"), 64); err == nil && strings.HasSuffix(value, "px") {
			p.size = size
		}
	case "font-weight":
		weight, err := strconv.Atoi(value)
		p.bold = value == "bold" || value == "bolder" || err == nil && weight >= 700
	}
}

// requiredContrast returns the contrast ratio that text needs at level AA: 4.5, or 3 for
// large text, which has at least 18 points, or 14 points if it is bold (WCAG 2.2, success
// criterion 1.4.3).
func (p paint) requiredContrast() float64 {
	const pixelsPerPoint = 96.0 / 72
	if p.size >= 18*pixelsPerPoint || p.bold && p.size >= 14*pixelsPerPoint {
		return 3
	}
	return 4.5
}
