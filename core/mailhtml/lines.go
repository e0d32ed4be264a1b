package mailhtml

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// lineWidth is the maximum length of a line in characters. RFC 5322, section 2.1.1, says
	// that lines should not be longer.
	lineWidth = 78
	// maxIndent and maxQuotes limit what is written before each line, so that deeply nested
	// lists do not make the output much longer than the input.
	maxIndent, maxQuotes = 24, 4
)

// lines writes words into lines.
type lines struct {
	out strings.Builder
	// first is true until something has been written.
	first bool
	// breaks is the number of line breaks before the next word.
	breaks int
	// column is the width of the current line so far.
	column int
	// word has what follows the last white space. braces is the number of characters "{"
	// at its end that are text.
	word   []byte
	braces int
	// tagged is true if the word ends in a Handlebars tag.
	tagged bool
	// spaced is true if white space precedes the word.
	spaced bool
	// cells is true if the word begins another cell of a table row.
	cells bool
	// marker is written before the next word, in place of the last part of its indent.
	marker string
	// tagLine is true if the current line has only a block tag. Handlebars removes this line.
	// given is the number of line breaks before it.
	tagLine bool
	given   int
	// indent and quotes are those of the current element.
	indent, quotes int
}

// in sets the element whose content follows.
func (l *lines) in(e *element) {
	if l.indent != e.indent || l.quotes != e.quotes {
		l.endWord()
		l.indent, l.quotes = e.indent, e.quotes
	}
}

// plain writes text, with white space collapsed.
func (l *lines) plain(s string) {
	for _, r := range s {
		switch {
		case r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f':
			l.space()
		default:
			l.character(r)
		}
	}
}

// character appends one character to the word.
func (l *lines) character(r rune) {
	switch {
	case r < ' ' || r == 0x7f, r == 0x200b, r == 0xfeff, r == 0xad, r == 0x34f, r == 0x2060:
		// Invisible. Authors fill the preview text with such characters.
		return
	case r == 0xa0:
		r = ' '
	case r == '{' && l.braces == 1:
		// Two braces that are text would begin a tag.
		switch before := l.word[:len(l.word)-1]; {
		case bytes.HasSuffix(before, []byte(`\\`)):
			l.word = append(before, ` \{`...) // two backslashes escape nothing
		case !bytes.HasSuffix(before, []byte(`\`)):
			l.word = append(before, `\{`...)
		}
	case r == '}' && l.tagged:
		l.word = append(l.word, ' ') // a third brace would belong to the tag
	}
	l.tagged = false
	l.word = utf8.AppendRune(l.word, r)
	if l.braces++; r != '{' {
		l.braces = 0
	}
}

// atom appends a text that is not divided, such as a Handlebars tag or an address.
func (l *lines) atom(s string) {
	if l.braces > 0 {
		l.word = append(l.word, ' ')
	}
	l.word = append(l.word, s...)
	l.braces, l.tagged = 0, strings.HasSuffix(s, "}}")
}

// unescape separates a backslash at the end of the word from a tag that follows, which it
// would escape.
func (l *lines) unescape() {
	if bytes.HasSuffix(l.word, []byte(`\`)) {
		l.word = append(l.word, ' ')
	}
}

// verbatim writes preformatted text.
func (l *lines) verbatim(s string) {
	for i, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		if i > 0 {
			l.endWord()
			l.breakLine()
		}
		for _, r := range line {
			if r == '\t' {
				r = ' '
			}
			l.character(r)
		}
	}
}

// space ends the word. The next word is separated from it.
func (l *lines) space() {
	l.endWord()
	l.spaced = true
}

// separateCell ends the word before another cell of a table row.
func (l *lines) separateCell() {
	l.endWord()
	l.cells = l.column > 0 && l.breaks == 0
}

// want ends the word and asks for at least n line breaks before the next one.
func (l *lines) want(n int) {
	l.endWord()
	l.spaced, l.cells = false, false
	if l.tagLine && n > 0 {
		n = 1 + max(0, n-l.given)
	}
	l.breaks = max(l.breaks, n)
}

// breakLine adds a line break, at most up to one blank line.
func (l *lines) breakLine() {
	if l.breaks < 2 {
		l.breaks++
	}
	l.spaced = false
}

// block writes a block tag: on a line of its own if the line is empty so far, else as a
// part of the line.
func (l *lines) block(tag string) {
	if len(l.word) > 0 || !l.first && l.breaks == 0 {
		l.atom(tag)
		return
	}
	switch {
	case l.first:
		l.given = 2
	case l.tagLine:
		l.given += l.breaks - 1
	default:
		l.given = l.breaks
	}
	l.writeBreaks()
	l.out.WriteString(tag)
	l.column = utf8.RuneCountInString(tag)
	l.breaks, l.tagLine, l.spaced, l.cells = 1, true, false, false
}

// writeBreaks writes the line breaks before a word or tag.
func (l *lines) writeBreaks() {
	if !l.first {
		for range l.breaks {
			l.out.WriteByte('\n')
		}
	}
	l.breaks, l.first, l.column = 0, false, 0
}

// endWord writes the word, on a new line if it does not fit into the current one.
func (l *lines) endWord() {
	if len(l.word) == 0 {
		return
	}
	word := string(l.word)
	l.word, l.braces, l.tagged = l.word[:0], 0, false
	if strings.Trim(word, " \u200c\u200d") == "" {
		l.spaced = true
		return
	}
	width := utf8.RuneCountInString(word)
	switch {
	case l.first || l.breaks > 0:
		l.writeBreaks()
		l.beginLine()
	case l.cells:
		l.write(" | ")
	case l.spaced && l.column+1+width > lineWidth:
		l.breaks = 1
		l.writeBreaks()
		l.beginLine()
	case l.spaced:
		l.write(" ")
	}
	l.write(word)
	l.spaced, l.cells, l.tagLine = false, false, false
}

// beginLine writes what precedes the words of a line.
func (l *lines) beginLine() {
	l.write(strings.Repeat("> ", l.quotes))
	l.write(strings.Repeat(" ", max(0, l.indent-len(l.marker))))
	l.write(l.marker)
	l.marker = ""
}

func (l *lines) write(s string) {
	l.out.WriteString(s)
	l.column += utf8.RuneCountInString(s)
}

// text ends the last word and returns the whole text.
func (l *lines) text() string {
	l.endWord()
	if l.out.Len() == 0 {
		return ""
	}
	l.out.WriteByte('\n')
	return l.out.String()
}
