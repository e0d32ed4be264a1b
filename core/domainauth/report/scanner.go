package report

import (
	"bytes"
	"errors"
	"io"
)

const (
	// windowBytes is the size of the window on the document. It bounds a text.
	windowBytes = 64 << 10
	// maxTag is the size of the largest tag.
	maxTag = 4 << 10
	// shortText is the size of most texts.
	shortText = 16
	// maxDepth is the largest depth of elements that are distinguished.
	maxDepth = 64
)

// token is a part of the document. Its slices are valid until the next call of scanner.next.
type token struct {
	// text is the content of a text, undecoded, or the name of a tag with its prefix.
	text []byte
	// attributes is what follows the name in a start tag.
	attributes []byte
	// empty is true for a start tag that is an end tag too.
	empty bool
	// colon and nameEnd are the indexes of the first ":" in the name of a start tag and of the space
	// behind the name, -1 if there is none.
	colon, nameEnd int
}

type tokenKind uint8

const (
	textToken    tokenKind = iota
	literalToken           // a CDATA section, which has no references
	startToken
	endToken
	endOfDocument
)

// scanner splits a document into tokens, with constant memory. Comments, processing instructions
// and the document type are left out; entities that it declares are not defined.
type scanner struct {
	r      io.Reader
	window []byte
	pos    int // where the next token begins in the window
	// token is what next has read.
	token
	base int64 // offset of the window in the document
	err  error // of r
	// stray is called for a "<" that begins no tag.
	stray func()
}

func newScanner(r io.Reader, stray func()) *scanner {
	return &scanner{r: r, window: make([]byte, 0, windowBytes), stray: stray}
}

// offset returns the position in the document.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fill reads more into the window, after it has moved the rest of it to the front. It returns false
// if nothing was added: at the end of the document, or because the window is full.
func (s *scanner) fill() bool {
	if s.pos > 0 {
		n := copy(s.window, s.window[s.pos:])
		s.window, s.base, s.pos = s.window[:n], s.base+int64(s.pos), 0
	}
	for s.err == nil && len(s.window) < cap(s.window) {
		n, err := s.r.Read(s.window[len(s.window):cap(s.window)])
		s.window, s.err = s.window[:len(s.window)+n], err
		if n > 0 {
			return true
		}
	}
	return false
}

// next reads the next token. Text that is not wanted is left out. open is the name of the innermost
// element, whose end tag is usually next. At the end of the document next returns the error of the
// reader, nil for io.EOF.
func (s *scanner) next(wantText bool, open string) (tokenKind, error) {
	for {
		if s.pos == len(s.window) && !s.fill() {
			if errors.Is(s.err, io.EOF) {
				return endOfDocument, nil
			}
			return endOfDocument, s.err
		}
		if s.window[s.pos] != '<' {
			if s.token.text = s.readText(); wantText {
				return textToken, nil
			}
			continue
		}
		if s.isEndOf(open) {
			s.token.text = s.take(len(open) + len("</>"))[len("</") : len(open)+len("</")]
			return endToken, nil
		}
		if kind, ok := s.markup(); ok {
			return kind, nil
		}
	}
}

// isEndOf reports whether the end tag of an element is next, as far as it is in the window. That is
// quicker than to read it.
func (s *scanner) isEndOf(name string) bool {
	end := s.pos + len("</") + len(name)
	return end < len(s.window) && s.window[s.pos+1] == '/' && s.window[end] == '>' && string(s.window[s.pos+len("</"):end]) == name && name != ""
}

// readText returns the text up to the next "<". A text that is longer than the window comes in
// parts.
func (s *scanner) readText() []byte {
	for i, c := range s.window[s.pos:min(s.pos+shortText, len(s.window))] { // quicker than IndexByte
		if c == '<' {
			return s.take(i)
		}
	}
	for from := 0; ; {
		i := bytes.IndexByte(s.window[s.pos+from:], '<')
		if i >= 0 {
			return s.take(from + i)
		}
		from = len(s.window) - s.pos
		if !s.fill() {
			return s.take(len(s.window) - s.pos)
		}
	}
}

// take returns the next n bytes.
func (s *scanner) take(n int) []byte {
	taken := s.window[s.pos : s.pos+n]
	s.pos += n
	return taken
}

// markup reads what begins with "<". It returns false for what is left out.
func (s *scanner) markup() (tokenKind, bool) {
	if len(s.window)-s.pos < 2 && !s.fill() {
		return s.strayText(1), true
	}
	if c := s.window[s.pos+1]; c == '!' || c == '?' {
		return s.other()
	}
	tag, ok := s.tag()
	if !ok {
		return s.strayText(len(tag)), true
	}
	if tag[0] == '/' {
		s.token.text = trimEnd(tag[1:])
		return endToken, true
	}
	s.empty = tag[len(tag)-1] == '/'
	if s.empty {
		tag = tag[:len(tag)-1]
	}
	s.token.text, s.attributes = tag, nil
	if s.nameEnd >= 0 {
		s.token.text, s.attributes = tag[:s.nameEnd], tag[s.nameEnd:]
	}
	return startToken, true
}

// strayText reads n bytes, of which the first is a "<" that begins no tag.
func (s *scanner) strayText(n int) tokenKind {
	s.stray()
	s.token.text = s.take(n)
	return textToken
}

// trimEnd returns a name without the space that may follow it.
func trimEnd(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// other reads what begins with "<!" or "<?".
func (s *scanner) other() (tokenKind, bool) {
	switch {
	case s.begins("<![CDATA["):
		s.token.text = s.literal()
		return literalToken, true
	case s.begins("<!--"):
		s.skipTo("-->")
	case s.begins("<?"):
		s.skipTo("?>")
	default:
		s.skipDeclaration()
	}
	return 0, false
}

// space is what XML calls white space.
const space = " \t\r\n"

// begins reports whether the rest of the document begins with a text.
func (s *scanner) begins(text string) bool {
	for len(s.window)-s.pos < len(text) {
		if !s.fill() {
			return false
		}
	}
	return string(s.window[s.pos:s.pos+len(text)]) == text
}

// tag returns what is between "<" and ">", and sets nameEnd and colon for it. If that is no tag, it
// returns false and what is text instead. What exceeds maxTag is text as a whole: if each "<" in it
// were searched again, the time would grow with the square of the size.
func (s *scanner) tag() ([]byte, bool) {
	for {
		rest := s.window[s.pos:]
		end, more := s.tagEnd(rest[:min(len(rest), maxTag)])
		switch {
		case !more && end > 0 && isTag(rest[1:end]):
			s.pos += end + 1
			return rest[1:end], true
		case !more:
			return rest[:1], false
		case len(rest) >= maxTag:
			return rest[:maxTag], false
		case !s.fill():
			return s.window[s.pos:], false
		}
	}
}

// special marks the characters that mean something in a tag.
var special = [256]bool{'@': true, '<': true, '>': true, '=': true, ':': true, ' ': true, '\t': true, '\r': true, '\n': true}

// tagEnd returns the index of the ">" that ends the tag at the beginning of b, -1 if it is no tag.
// more is true if b ends before.
func (s *scanner) tagEnd(b []byte) (end int, more bool) {
	s.colon, s.nameEnd = -1, -1
	for i := 1; i < len(b); i++ {
		c := b[i]
		if !special[c] {
			continue
		}
		switch c {
		case '>':
			return i, false
		case '<':
			return -1, false
		case ':':
			if s.colon < 0 && s.nameEnd < 0 {
				s.colon = i - 1
			}
		case '@':
			if s.nameEnd < 0 {
				return -1, false // an address in angle brackets
			}
		case '=':
			return quotedEnd(b, i+1)
		default:
			if s.nameEnd < 0 {
				s.nameEnd = i - 1
			}
		}
	}
	return 0, true
}

// quotedEnd is tagEnd from the value of the first attribute on: a ">" in values does not end the tag.
func quotedEnd(b []byte, from int) (end int, more bool) {
	quote := byte(0)
	for i := from; i < len(b); i++ {
		switch c := b[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '<':
			return -1, false
		case c == '>':
			return i, false
		case (c == '"' || c == '\'') && b[i-1] == '=':
			quote = c
		}
	}
	return 0, true
}

// isTag reports whether what is between "<" and ">" can be a tag: a name follows the "/", if there
// is one.
func isTag(b []byte) bool {
	if len(b) > 0 && b[0] == '/' {
		b = b[1:]
	}
	if len(b) == 0 {
		return false
	}
	c := b[0]
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// literal returns the content of a CDATA section. One that is longer than the window comes without
// the part in between.
func (s *scanner) literal() []byte {
	s.pos += len("<![CDATA[")
	for {
		if i := bytes.Index(s.window[s.pos:], []byte("]]>")); i >= 0 {
			text := s.take(i)
			s.pos += len("]]>")
			return text
		}
		if !s.fill() {
			break
		}
	}
	return s.take(len(s.window) - s.pos)
}

// skipTo skips to behind a text, or to the end of the document.
func (s *scanner) skipTo(text string) {
	for {
		if i := bytes.Index(s.window[s.pos:], []byte(text)); i >= 0 {
			s.pos += i + len(text)
			return
		}
		// The text may begin at the end of the window.
		s.pos = max(s.pos, len(s.window)-len(text)+1)
		if !s.fill() {
			s.pos = len(s.window)
			return
		}
	}
}

// skipDeclaration skips a declaration such as the document type, with what it has in brackets.
func (s *scanner) skipDeclaration() {
	for brackets := 0; ; {
		for ; s.pos < len(s.window); s.pos++ {
			switch s.window[s.pos] {
			case '[':
				brackets++
			case ']':
				brackets--
			case '>':
				if brackets <= 0 {
					s.pos++
					return
				}
			}
		}
		if !s.fill() {
			return
		}
	}
}
