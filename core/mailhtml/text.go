package mailhtml

import (
	"html"
	"strconv"
	"strings"
)

// Text returns the plain text part for the HTML of a template. It may be executed as a
// template of plain text, with the same data.
//
// Links are written as "text (address)". Paragraphs and headings are separated by a blank
// line, the cells of a table row by " | ". Lists have "- " or numbers. Lines are wrapped at
// 78 characters, between words. Handlebars tags stay as they are. A block tag between
// paragraphs or rows is on a line of its own, which Handlebars removes. Images are
// represented by their alternative texts. Style, script and hidden elements, such as
// preview text, are left out with the Handlebars blocks that begin in them. Rules of style
// elements may hide them, too.
//
// The result uses "\n" and ends with it, unless it is empty.
func Text(source string) string {
	d := parse(strings.ToValidUTF8(source, "\uFFFD"))
	if _, err := d.applyRules(); err == nil {
		d.hideStyled()
	}
	w := &textWriter{document: d, lines: lines{first: true}, whole: d.wholeBlocks()}
	for i := range d.tokens {
		w.token(&d.tokens[i])
	}
	w.endLink()
	return w.text()
}

// textWriter writes the plain text of a document.
type textWriter struct {
	*document
	lines
	// link is the open link, nil if there is none.
	link *openLink
	// whole has the offsets of the tags of the blocks that are written. The tags of others,
	// for example those that begin inside of a start tag, are left out.
	whole map[int]bool
	// open has the open Handlebars blocks of whole.
	open []openBlock
}

// openLink is a link whose end tag has not been reached.
type openLink struct {
	address string
	text    strings.Builder
}

// wholeBlocks returns the offsets of the tags of the blocks that begin, continue and end
// between HTML tags.
func (d *document) wholeBlocks() map[int]bool {
	between := map[int]bool{}
	for _, t := range d.tokens {
		if t.kind == handlebars {
			between[t.start] = true
		}
	}
	whole, _ := wholeBlocks(d.source, func(at int) bool { return between[at] })
	return whole
}

// openBlock is a Handlebars block whose end has not been reached.
type openBlock struct {
	// within is the element in which the block begins.
	within *element
	// shown is true if the tags of the block are written.
	shown bool
}

// token writes one token.
func (w *textWriter) token(t *token) {
	if t.kind == handlebars {
		w.tag(t)
		return
	}
	if t.element == nil || t.element.hidden {
		return
	}
	w.in(t.element)
	switch t.kind {
	case text:
		w.pieces(w.raw(*t), t.element.verbatim, true)
	case startTag:
		w.start(t)
	case endTag:
		w.end(t)
	}
}

// tag writes a Handlebars tag between HTML tags.
func (w *textWriter) tag(t *token) {
	tag, visible := w.raw(*t), !t.element.hidden
	w.in(t.element)
	role := roleOf(tag)
	if role == remark || role != value && !w.whole[t.start] {
		return
	}
	switch role {
	case opening:
		w.open = append(w.open, openBlock{within: t.element, shown: visible})
	case middle, closing:
		// The tags of a block are written all or not at all.
		if n := len(w.open); n > 0 {
			w.leave(t.element, w.open[n-1].within)
			visible = w.open[n-1].shown
			if role == closing {
				w.open = w.open[:n-1]
			}
		}
	}
	if visible && !strings.HasSuffix(w.source[:t.start], `\`) {
		w.unescape()
	}
	switch {
	case !visible:
	case role == value:
		w.atom(tag)
		w.linkText(tag)
	default:
		w.block(tag)
	}
}

// leave separates what follows from an element without an end tag, such as a table row, at
// the end of an arm of a Handlebars block.
func (w *textWriter) leave(e, within *element) {
	if e == within {
		return
	}
	w.separate(e)
	if e.name == "td" || e.name == "th" {
		w.want(1)
	}
}

// pieces writes text or the value of an attribute: character references are replaced, and
// Handlebars tags are kept, block tags only if blocks is true.
func (w *textWriter) pieces(s string, verbatim, blocks bool) {
	eachPiece(s, func(piece string, tag bool) {
		switch {
		case tag && (roleOf(piece) == remark || roleOf(piece) != value && !blocks):
			return
		case tag:
			w.atom(piece)
		case verbatim:
			w.verbatim(piece)
		default:
			w.plain(piece)
		}
		w.linkText(piece)
	})
}

func (w *textWriter) linkText(s string) {
	if w.link != nil {
		w.link.text.WriteString(s)
	}
}

// eachPiece calls yield for each Handlebars tag of s and for the text between tags, in
// which it replaces character references.
func eachPiece(s string, yield func(piece string, tag bool)) {
	tags := tagFinder{source: s}
	from := 0
	for i := strings.Index(s, "{{"); i >= 0 && i < len(s); i++ {
		end := tags.end(i)
		if end == 0 {
			if strings.HasPrefix(s[i:], "{{") && isEscaped(s[:i]) {
				i = bracesEnd(s, i) - 1
			}
			continue
		}
		if i > from {
			yield(replaceReferences(s[from:i]), false)
		}
		yield(s[i:end], true)
		from, i = end, end-1
	}
	if from < len(s) {
		yield(replaceReferences(s[from:]), false)
	}
}

// replaceReferences replaces the character references in a text. A backslash at its end is
// separated from a Handlebars tag that follows, which it would escape.
func replaceReferences(s string) string {
	replaced := html.UnescapeString(s)
	if strings.HasSuffix(replaced, `\`) && !strings.HasSuffix(s, `\`) {
		return replaced + " "
	}
	return replaced
}

// paragraphs has the elements with a blank line before and after them.
var paragraphs = setOf("p h1 h2 h3 h4 h5 h6 table ul ol dl menu blockquote pre hr form fieldset figure")

// blocks has further elements that begin on a new line.
var blocks = setOf("div tr li dt dd section article aside header footer main nav address center body caption tbody thead tfoot figcaption legend")

var isList = setOf("ul ol menu")

// separate ends the line or paragraph before and after an element.
func (w *textWriter) separate(e *element) {
	nested := isList[e.name] && e.parent.indent > 0
	switch {
	case paragraphs[e.name] && !nested:
		w.want(2)
	case nested || blocks[e.name]:
		w.want(1)
	}
}

// start writes what a start tag means.
func (w *textWriter) start(t *token) {
	e := t.element
	w.separate(e)
	switch t.name {
	case "br":
		w.want(0)
		w.breakLine()
	case "hr":
		w.atom("---------------")
		w.want(2)
	case "img":
		alt, _ := w.value(*t, "alt")
		_, whole := wholeBlocks(alt, func(int) bool { return true })
		w.pieces(alt, false, whole)
	case "a":
		w.startLink(t)
	case "ol":
		first, _ := w.value(*t, "start")
		n, err := strconv.Atoi(first)
		if err != nil || n < 0 || n > 1_000_000 {
			n = 1
		}
		e.items = n - 1
	case "li":
		w.marker = itemMarker(e)
	case "td", "th":
		w.cell(e)
	}
}

// itemMarker returns the marker before an item of a list. Items of an ordered list that a
// Handlebars block repeats or leaves out have no numbers.
func itemMarker(item *element) string {
	list := item.parent
	switch {
	case list.name != "ol":
		return "- "
	case item.blocks > list.blocks:
		return "-  "
	}
	list.items++
	return strconv.Itoa(list.items) + ". "
}

// cell separates a cell of a table from the one before it. Cells that a Handlebars block
// repeats or leaves out have a line each.
func (w *textWriter) cell(e *element) {
	if e.blocks > e.parent.blocks {
		w.want(1)
		return
	}
	w.separateCell()
}

// end writes what an end tag means.
func (w *textWriter) end(t *token) {
	switch e := t.element; {
	case t.name == "a":
		w.endLink()
	case (t.name == "td" || t.name == "th") && e.blocks > e.parent.blocks:
		w.want(1)
	default:
		w.separate(e)
	}
}

// startLink begins a link. It ends a link that is still open.
func (w *textWriter) startLink(t *token) {
	w.endLink()
	if href, ok := w.value(*t, "href"); ok {
		w.link = &openLink{address: readableAddress(href)}
	}
}

// endLink writes the address behind the text of a link, unless the text is the address.
func (w *textWriter) endLink() {
	link := w.link
	w.link = nil
	if link == nil || link.address == "" {
		return
	}
	shown := strings.Join(strings.Fields(link.text.String()), " ")
	switch {
	case shown == "":
		w.space()
		w.atom(link.address)
		w.space()
	case bareAddress(shown) != bareAddress(link.address):
		w.space()
		w.atom("(" + link.address + ")")
	}
}

// unspaced removes what separates the digits of telephone numbers.
var unspaced = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", "/", "", "\u00a0", "")

// bareAddress returns an address in the form in which it is compared with the text of its
// link: without the scheme and the characters that only structure it.
func bareAddress(address string) string {
	address = strings.ToLower(address)
	for _, scheme := range []string{"https://", "http://"} {
		address = strings.TrimPrefix(address, scheme)
	}
	return unspaced.Replace(address)
}

// readableAddress returns the address of a link as the plain text shows it, or "" for one
// that readers cannot follow: a place in the same document, or a script.
func readableAddress(href string) string {
	var b strings.Builder
	_, whole := wholeBlocks(href, func(int) bool { return true })
	eachPiece(strings.TrimSpace(href), func(piece string, tag bool) {
		switch {
		case tag && (roleOf(piece) == remark || roleOf(piece) != value && !whole):
			return
		case !tag:
			piece = addressText.Replace(strings.Map(dropControls, piece))
		}
		b.WriteString(piece)
	})
	address := b.String()
	scheme, rest, ok := strings.Cut(address, ":")
	switch scheme = strings.ToLower(scheme); {
	case strings.HasPrefix(address, "#"):
		return ""
	case !ok:
		return address
	case scheme == "mailto" || scheme == "tel" || scheme == "sms":
		rest, _, _ = strings.Cut(rest, "?")
		return rest
	case scheme == "javascript" || scheme == "vbscript" || scheme == "data" || scheme == "cid" || scheme == "about":
		return ""
	}
	return address
}

// addressText replaces the characters that would end an address in plain text or begin a
// Handlebars tag.
var addressText = strings.NewReplacer(" ", "%20", "{", "%7B", "}", "%7D", `\`, "%5C")

// dropControls removes control characters, as browsers do in addresses.
func dropControls(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}
