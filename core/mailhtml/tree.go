package mailhtml

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxDepth is the maximum depth of the tree. Elements below it become children of the
// deepest element, as in browsers. It keeps the time for finding ancestors constant.
const maxDepth = 500

// element is an element of a template. The tree is approximate: it knows the void elements
// and the optional end tags, and in each arm of a Handlebars block it continues from the
// element in which the block began.
type element struct {
	name   string
	parent *element
	// tag is the index of the start tag in the tokens, or -1 for the root and for a tbody
	// without a tag.
	tag   int
	depth int
	// blocks is the number of Handlebars blocks around the start tag.
	blocks int
	// hidden is true if clients do not show the element.
	hidden bool
	// items is the number of the latest item of an ordered list.
	items int
	// indent is the number of columns by which lists indent the content in plain text.
	// quotes is the number of block quotations around the content.
	indent, quotes int
	// verbatim is true in pre, where white space is kept.
	verbatim bool
	// varied is true if data decides which children the element has.
	varied bool
	// node is the element for the module that matches selectors. Its attributes are set by
	// prepare.
	node html.Node
	// children is the number of children. last is the last of them. previous is the sibling
	// before the element.
	children       int
	last, previous *element
	// style has what the cascade found out about the element.
	style elementStyle
}

// document is a template with its tree.
type document struct {
	source   string
	tokens   []token
	root     *element
	elements []*element // in the order of their start tags
	// foreign is true if the mail has HTML that is not in the source: {{{x}}}.
	foreign bool
}

// parse scans a template and builds its tree.
func parse(source string) *document {
	d := &document{source: source, tokens: scan(source), root: &element{tag: -1}}
	d.root.node.Type = html.DocumentNode
	b := builder{document: d, current: d.root}
	for i := range d.tokens {
		b.add(i)
	}
	return d
}

// raw returns the source text of a token.
func (d *document) raw(t token) string { return d.source[t.start:t.end] }

// value returns the source text of an attribute of a token, with Handlebars tags and
// character references as they are written, and whether the token has the attribute.
func (d *document) value(t token, name string) (string, bool) {
	for _, a := range t.attributes {
		if a.name == name {
			return d.source[a.valueStart:a.valueEnd], true
		}
	}
	return "", false
}

// builder builds the tree of a document.
type builder struct {
	*document
	current *element
	// blocks has, for each open Handlebars block, the element in which it began.
	blocks []*element
}

// add adds the token with the index i to the tree.
func (b *builder) add(i int) {
	t := &b.tokens[i]
	switch t.kind {
	case startTag:
		b.start(i)
	case endTag:
		b.end(t)
	case handlebars:
		t.element = b.current
		if isRaw(b.raw(*t)) {
			b.current.varied, b.foreign = true, true
		}
		b.block(roleOf(b.raw(*t)))
	case text, markup:
		t.element = b.current
	}
}

// block continues the tree after a Handlebars tag.
func (b *builder) block(role tagRole) {
	switch role {
	case opening:
		b.current.varied = true
		b.blocks = append(b.blocks, b.current)
	case middle:
		if n := len(b.blocks); n > 0 {
			b.current = b.blocks[n-1]
		}
	case closing:
		if n := len(b.blocks); n > 0 {
			b.blocks = b.blocks[:n-1]
		}
	}
}

// voidElements have no content and no end tag.
var voidElements = setOf("area base br col embed hr img input link meta source track wbr")

// set is a set of element names.
type set map[string]bool

// setOf returns the set of the names in a list that is separated by spaces.
func setOf(list string) set {
	s := set{}
	for name := range strings.FieldsSeq(list) {
		s[name] = true
	}
	return s
}

// optionalEnd says which open elements a start tag ends: the nearest of ends, unless an
// element of within is nearer.
type optionalEnd struct{ ends, within set }

// endedBy has, for start tags, the elements with an optional end tag that they end.
var endedBy = map[string]optionalEnd{
	"li":       {setOf("li"), setOf("ul ol menu table")},
	"dt":       {setOf("dt dd"), setOf("dl table")},
	"dd":       {setOf("dt dd"), setOf("dl table")},
	"td":       {setOf("td th"), setOf("tr table")},
	"th":       {setOf("td th"), setOf("tr table")},
	"tr":       {setOf("tr"), setOf("tbody thead tfoot table")},
	"tbody":    {setOf("tbody thead tfoot"), setOf("table")},
	"thead":    {setOf("tbody thead tfoot"), setOf("table")},
	"tfoot":    {setOf("tbody thead tfoot"), setOf("table")},
	"option":   {setOf("option"), setOf("select")},
	"body":     {setOf("head"), setOf("html")},
	"colgroup": {setOf("colgroup"), setOf("table")},
}

var (
	// paragraphEnd is for the start tags in endsParagraph, which end an open p.
	paragraphEnd  = optionalEnd{setOf("p"), setOf("td th li dd table body button")}
	endsParagraph = setOf("address article aside blockquote center div dl fieldset footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul")
	// inHead has the start tags that do not end an open head.
	inHead = setOf("base basefont bgsound link meta noscript script style template title object xml")
	// tableParts has the elements whose end tags close an open cell.
	tableParts = setOf("tr td th tbody thead tfoot table body html")
)

// maxEndSearch is the number of ancestors among which a start tag looks for the element that
// it ends.
const maxEndSearch = 20

// start adds the element of a start tag.
func (b *builder) start(i int) {
	t := &b.tokens[i]
	if b.current.name == "head" && !inHead[t.name] {
		b.current = b.current.parent
	}
	if rule, ok := endedBy[t.name]; ok {
		b.closeOpen(rule)
	}
	if endsParagraph[t.name] {
		b.closeOpen(paragraphEnd)
	}
	if t.name == "tr" && b.current.name == "table" {
		b.current = b.child("tbody", -1)
	}
	t.element = b.child(t.name, i)
	b.elements = append(b.elements, t.element)
	if !voidElements[t.name] && t.element.depth < maxDepth {
		b.current = t.element
	}
}

// child returns a new child of the current element.
func (b *builder) child(name string, tag int) *element {
	p := b.current
	e := &element{
		name: name, parent: p, tag: tag, depth: p.depth + 1, blocks: len(b.blocks),
		hidden: p.hidden, indent: p.indent, quotes: p.quotes, verbatim: p.verbatim,
	}
	switch name {
	case "ul", "menu", "dd":
		e.indent = min(e.indent+2, maxIndent)
	case "ol":
		e.indent = min(e.indent+3, maxIndent)
	case "blockquote":
		e.quotes = min(e.quotes+1, maxQuotes)
	case "pre":
		e.verbatim = true
	}
	e.node = html.Node{Type: html.ElementNode, Data: name}
	p.node.AppendChild(&e.node)
	p.children++
	e.previous, p.last = p.last, e
	// A tbody without a tag has the children that the source gives to the table.
	e.varied = tag < 0 && p.varied
	if tag >= 0 && (neverShown[name] || b.hides(b.tokens[tag])) {
		e.hidden = true
	}
	return e
}

// closeOpen closes the open element that a start tag ends, if there is one.
func (b *builder) closeOpen(rule optionalEnd) {
	e := b.current
	for n := 0; n < maxEndSearch && e != b.root && !rule.within[e.name]; n++ {
		if rule.ends[e.name] {
			b.current = e.parent
			return
		}
		e = e.parent
	}
}

// end closes the nearest open element with the name of an end tag. An end tag does not
// close elements outside of its table cell.
func (b *builder) end(t *token) {
	for e := b.current; e != b.root; e = e.parent {
		if e.name == t.name {
			t.element, b.current = e, e.parent
			return
		}
		if (e.name == "td" || e.name == "th") && !tableParts[t.name] {
			return
		}
	}
}

// neverShown has the elements whose content clients do not show.
var neverShown = setOf("head title style script template object svg iframe noembed noframes audio video map")

// hides reports whether the attributes of a start tag hide its element.
func (b *builder) hides(t token) bool {
	if _, ok := b.value(t, "hidden"); ok {
		return true
	}
	style, _ := b.value(t, "style")
	return style != "" && hidesContent(style)
}

// hidesContent reports whether a style attribute hides the content, as authors do with the
// preview text of a mail.
func hidesContent(style string) bool {
	for declaration := range strings.SplitSeq(lowerASCII(style), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		if isHiding(strings.TrimSpace(property), strings.TrimSuffix(strings.TrimSpace(value), "!important")) {
			return true
		}
	}
	return false
}

// isHiding reports whether a declaration hides the content of an element. Both arguments are
// in lower case.
func isHiding(property, value string) bool {
	value = strings.TrimSpace(value)
	switch property {
	case "display":
		return value == "none"
	case "visibility":
		return value == "hidden" || value == "collapse"
	case "mso-hide":
		return value == "all"
	case "opacity":
		return value == "0"
	case "max-height":
		return value == "0" || value == "0px"
	}
	return false
}

// hideStyled hides the elements that the rules of the style elements hide. The rules must
// have been applied.
func (d *document) hideStyled() {
	for _, e := range d.elements {
		if p := e.parent; p.tag < 0 && p.parent != nil {
			p.hidden = p.parent.hidden
		}
		e.hidden = e.hidden || e.parent.hidden || slices.ContainsFunc(e.style.merged, func(one declaration) bool {
			return isHiding(one.property, lowerASCII(one.value))
		})
	}
}
