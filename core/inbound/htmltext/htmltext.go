package htmltext

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of links, in number and bytes. Links beyond are left out, texts are cut.
const (
	maxLinks     = 500
	maxAddress   = 4096
	maxLinkText  = 300
	maxHidden    = 256 // depth of elements inside a hidden element
	maxLineBreak = 2   // consecutive line ends in the text
)

// Document is what Convert found in HTML.
type Document struct {
	// Text has the visible text. Paragraphs and headings are separated by an empty line,
	// table cells by a space, and lists have "- ". Images are represented by their
	// alternative texts. It ends with "\n" unless it is empty.
	Text string
	// Links has the links in their order, the first 500.
	Links []Link
}

// Link is a link of a document.
type Link struct {
	// Address is the address as written, with character references replaced.
	Address string
	// Text is the visible text of the link, on one line, or the alternative text of an image
	// in it. It is cut at 300 bytes.
	Text string
	// Start and End are the offsets of the link's text in Document.Text. Start may be before
	// the space in front of the text.
	Start, End int
}

// Convert reads HTML. Scripts, styles, comments, the title, and elements hidden by an
// attribute (hidden, or style with display:none or visibility:hidden) are left out. Style
// elements are not evaluated.
func Convert(source string) Document {
	w := writer{}
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			w.endLink()
			return Document{Text: w.finish(), Links: w.links}
		case html.TextToken:
			if w.skip == 0 {
				w.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(atom.Lookup(name))
		}
	}
}

// writer writes the text of a document.
type writer struct {
	b strings.Builder
	// breaks is the number of line ends that must separate what follows, and space is true if
	// a space must.
	breaks int
	space  bool
	// pre is the number of open pre elements.
	pre int
	// skip is the number of open elements inside of a hidden element, itself included.
	skip int
	// hidden is the name of the hidden element.
	hidden atom.Atom

	links []Link
	link  *Link
	label strings.Builder
}

// text writes text, in which spaces are collapsed outside of pre.
func (w *writer) text(s string) {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\u00a0", " ")
	if w.pre > 0 {
		w.lines(s)
		return
	}
	for s != "" {
		n := strings.IndexAny(s, " \t\r\n\f")
		switch {
		case n == 0:
			w.space = true
			s = strings.TrimLeft(s, " \t\r\n\f")
			continue
		case n < 0:
			n = len(s)
		}
		w.word(s[:n])
		s = s[n:]
	}
}

// lines writes preformatted text.
func (w *writer) lines(s string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\r", ""), "\n") {
		if strings.TrimSpace(line) != "" {
			w.word(line)
		}
		w.lineBreak(min(w.breaks+1, maxLineBreak))
	}
}

// word writes a word, after the separator that is due.
func (w *writer) word(s string) {
	switch {
	case w.b.Len() == 0:
	case w.breaks > 0:
		w.b.WriteString(strings.Repeat("\n", w.breaks))
	case w.space:
		w.b.WriteByte(' ')
	}
	if w.link != nil && w.label.Len() < maxLinkText {
		if w.label.Len() > 0 && (w.space || w.breaks > 0) {
			w.label.WriteByte(' ')
		}
		w.label.WriteString(s)
	}
	w.breaks, w.space = 0, false
	w.b.WriteString(s)
}

func (w *writer) lineBreak(n int) { w.breaks = max(w.breaks, n) }

// start reads a start tag.
func (w *writer) start(z *html.Tokenizer) {
	raw, hasAttributes := z.TagName()
	name := atom.Lookup(raw)
	if w.skip > 0 {
		if name == w.hidden && w.skip < maxHidden {
			w.skip++
		}
		return
	}
	a := attributes{}
	if hasAttributes {
		a.read(z)
	}
	if isInvisible(name) || a.hidden {
		if !isVoid(name) {
			w.skip, w.hidden = 1, name
		}
		return
	}
	w.separate(name)
	switch name {
	case atom.Br:
		w.breaks = min(w.breaks+1, maxLineBreak)
	case atom.Li:
		w.word("-")
		w.space = true
	case atom.Pre:
		w.pre++
	case atom.Img:
		if a.alt != "" {
			w.text(a.alt)
		}
	case atom.A, atom.Area:
		w.endLink()
		w.beginLink(a.href, a.alt)
	}
}

// separate makes a block element begin or end on a line of its own.
func (w *writer) separate(name atom.Atom) {
	switch name {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Ul, atom.Ol, atom.Blockquote, atom.Pre, atom.Hr:
		w.lineBreak(2)
	case atom.Div, atom.Tr, atom.Li, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Center, atom.Dt, atom.Dd, atom.Address, atom.Form, atom.Body, atom.Main, atom.Nav, atom.Aside:
		w.lineBreak(1)
	case atom.Td, atom.Th, atom.Option, atom.Button:
		w.space = true
	}
}

// end reads an end tag.
func (w *writer) end(name atom.Atom) {
	if w.skip > 0 {
		if name == w.hidden {
			w.skip--
		}
		return
	}
	switch name {
	case atom.Pre:
		w.pre = max(0, w.pre-1)
	case atom.A:
		w.endLink()
	}
	w.separate(name)
}

func (w *writer) beginLink(address, alt string) {
	if address == "" || len(address) > maxAddress || len(w.links) >= maxLinks {
		return
	}
	w.link = &Link{Address: strings.ToValidUTF8(address, "\uFFFD"), Start: w.b.Len()}
	w.label.Reset()
	if alt != "" {
		w.label.WriteString(alt)
	}
}

func (w *writer) endLink() {
	if w.link == nil {
		return
	}
	w.link.Text = cut(w.label.String(), maxLinkText)
	w.link.End = w.b.Len()
	w.links = append(w.links, *w.link)
	w.link = nil
}

// cut returns the beginning of s, at most n bytes, without half a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// finish returns the text.
func (w *writer) finish() string {
	if w.b.Len() == 0 {
		return ""
	}
	w.b.WriteByte('\n')
	return w.b.String()
}

// attributes has the attributes of a start tag that matter here.
type attributes struct {
	href, alt string
	hidden    bool
}

func (a *attributes) read(z *html.Tokenizer) {
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "href":
			a.href = strings.TrimSpace(string(value))
		case "alt":
			a.alt = string(value)
		case "hidden":
			a.hidden = true
		case "style":
			a.hidden = a.hidden || hides(string(value))
		}
	}
}

// hides reports whether a style attribute makes its element invisible.
func hides(style string) bool {
	if !strings.Contains(style, ":") {
		return false
	}
	compact := strings.ToLower(strings.Join(strings.Fields(style), ""))
	return strings.Contains(compact, "display:none") || strings.Contains(compact, "visibility:hidden")
}

func isInvisible(name atom.Atom) bool {
	switch name {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Noscript, atom.Textarea, atom.Select,
		atom.Iframe, atom.Object, atom.Svg, atom.Math, atom.Noembed, atom.Noframes, atom.Xmp, atom.Canvas, atom.Audio, atom.Video:
		return true
	}
	return false
}

// isVoid reports whether an element has no end tag.
func isVoid(name atom.Atom) bool {
	switch name {
	case atom.Img, atom.Br, atom.Hr, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
