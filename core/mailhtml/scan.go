package mailhtml

import (
	"slices"
	"strings"
)

// kind says what a token is.
type kind int

const (
	// text is text between tags, also that of style and script elements.
	text kind = iota
	// startTag is a start tag with its attributes.
	startTag
	// endTag is an end tag.
	endTag
	// markup is a comment, doctype or processing instruction, conditional comments included.
	markup
	// handlebars is a Handlebars tag or comment between HTML tags.
	handlebars
)

// token is one piece of a template. The tokens of a template follow one another without
// gaps.
type token struct {
	kind kind
	// start and end are byte offsets in the source.
	start, end int
	// name is the element's name in lower case, of start and end tags.
	name string
	// attributes has the attributes of a start tag in the order of the source.
	attributes []attribute
	// nameEnd is the byte offset behind the name of a start tag. tail is that behind its last
	// attribute or Handlebars tag.
	nameEnd, tail int
	// loose is true if a Handlebars tag between the attributes prints something.
	loose bool
	// element is the element of a start or end tag, and the parent of other tokens. It is
	// nil for an end tag without an open element.
	element *element
}

// attribute is one attribute of a start tag.
type attribute struct {
	// name is in lower case.
	name string
	// start is the byte offset of the name. valueStart and valueEnd are those of the value
	// without quotation marks. They are equal to the end of the name if there is no value.
	start, valueStart, valueEnd int
	// quote is the quotation mark around the value, or 0.
	quote byte
	// assigned is true if the name is followed by "=".
	assigned bool
	// conditional is true if the attribute is inside of a Handlebars block of its tag.
	conditional bool
}

// rawElements have content that is not HTML, up to their end tag.
var rawElements = setOf("script style title textarea xmp iframe noembed noframes")

// scanner divides a template into tokens.
type scanner struct {
	source string
	// lower is source with ASCII letters in lower case, made when it is needed first.
	lower string
	at    int
	tags  tagFinder
	out   []token
}

// scan returns the tokens of a template. It takes time proportional to its length.
func scan(source string) []token {
	s := &scanner{source: source, tags: tagFinder{source: source}}
	for s.at < len(source) {
		s.next()
	}
	return s.out
}

// next scans one token and the content of a raw element.
func (s *scanner) next() {
	start, rest := s.at, s.source[s.at:]
	switch {
	case strings.HasPrefix(rest, "{{"):
		end := s.tags.end(start)
		switch {
		case isEscaped(s.source[:start]):
			s.emitText(start, max(end, bracesEnd(s.source, start)))
			return
		case end > 0:
			s.emit(token{kind: handlebars, start: start, end: end})
			return
		}
	case strings.HasPrefix(rest, "<!--"):
		s.emit(token{kind: markup, start: start, end: commentEnd(s.source, start)})
		return
	case strings.HasPrefix(rest, "</") && len(rest) > 2 && isLetter(rest[2]):
		s.endTag()
		return
	case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"), strings.HasPrefix(rest, "</"):
		end := len(s.source)
		if i := strings.IndexByte(rest, '>'); i >= 0 {
			end = start + i + 1
		}
		s.emit(token{kind: markup, start: start, end: end})
		return
	case rest[0] == '<' && len(rest) > 1 && isLetter(rest[1]):
		s.startTag()
		return
	}
	end := start + 1
	for end < len(s.source) && s.source[end] != '<' && !strings.HasPrefix(s.source[end:], "{{") {
		end++
	}
	s.emitText(start, end)
}

// isEscaped reports whether a tag after the text is printed as it is written: \{{x}}. Two
// backslashes do not escape it.
func isEscaped(before string) bool {
	return strings.HasSuffix(before, `\`) && !strings.HasSuffix(before, `\\`)
}

// bracesEnd returns the offset behind the opening braces at i.
func bracesEnd(s string, i int) int {
	return len(s) - len(strings.TrimLeft(s[i:], "{"))
}

// emit appends a token and continues behind it.
func (s *scanner) emit(t token) {
	s.out = append(s.out, t)
	s.at = t.end
}

// emitText appends text, joined with text before it.
func (s *scanner) emitText(start, end int) {
	if n := len(s.out); n > 0 && s.out[n-1].kind == text {
		s.out[n-1].end, s.at = end, end
		return
	}
	s.emit(token{kind: text, start: start, end: end})
}

// commentEnd returns the end of the comment that begins at start. A comment without an end
// ends with the source.
func commentEnd(source string, start int) int {
	body := start + len("<!--")
	for _, short := range []string{">", "->"} {
		if strings.HasPrefix(source[body:], short) {
			return body + len(short)
		}
	}
	if i := strings.Index(source[body:], "-->"); i >= 0 {
		return body + i + len("-->")
	}
	return len(source)
}

// endTag scans an end tag.
func (s *scanner) endTag() {
	nameEnd := s.nameEnd(s.at + 2)
	end := s.find(nameEnd, '>')
	s.emit(token{kind: endTag, start: s.at, end: end, name: strings.ToLower(s.source[s.at+2 : nameEnd])})
}

// find returns the offset behind the next byte b at or after from, outside of Handlebars
// tags, or the end of the source.
func (s *scanner) find(from int, b byte) int {
	for i := from; i < len(s.source); {
		if end := s.tags.end(i); end > 0 {
			i = end
			continue
		}
		i++
		if s.source[i-1] == b {
			return i
		}
	}
	return len(s.source)
}

// nameEnd returns the end of the name of a tag that begins at from.
func (s *scanner) nameEnd(from int) int {
	i := from
	for i < len(s.source) && !isSpace(s.source[i]) && s.source[i] != '/' && s.source[i] != '>' {
		if end := s.tags.end(i); end > 0 {
			i = end
			continue
		}
		i++
	}
	return i
}

// startTag scans a start tag and, for a raw element, its content. A start tag without an
// end makes the rest of the source text.
func (s *scanner) startTag() {
	nameEnd := s.nameEnd(s.at + 1)
	t := token{kind: startTag, start: s.at, name: strings.ToLower(s.source[s.at+1 : nameEnd]), nameEnd: nameEnd, tail: nameEnd}
	depth := 0
	for i := nameEnd; i < len(s.source); {
		switch c := s.source[i]; {
		case c == '>':
			t.end = i + 1
			s.emit(t)
			if rawElements[t.name] {
				s.rawText(t.name)
			}
			return
		case isSpace(c) || c == '/':
			i++
			continue
		}
		if end := s.tags.end(i); end > 0 {
			switch roleOf(s.source[i:end]) {
			case opening:
				depth++
			case closing:
				depth--
			case value:
				t.loose = true
			}
			i, t.tail = end, end
			continue
		}
		a := s.attribute(i)
		a.conditional = depth > 0
		t.attributes = append(t.attributes, a)
		i = a.end()
		t.tail = i
	}
	s.emitText(s.at, len(s.source))
}

// end returns the offset behind the attribute, with its closing quotation mark.
func (a attribute) end() int {
	if a.quote != 0 {
		return a.valueEnd + 1
	}
	return a.valueEnd
}

// attribute scans the attribute that begins at start. If the quotation mark of its value is
// not closed, the value ends with the source.
func (s *scanner) attribute(start int) attribute {
	i := start + 1
	for i < len(s.source) && !isSpace(s.source[i]) && !strings.ContainsRune("/>=", rune(s.source[i])) && s.tags.end(i) == 0 {
		i++
	}
	a := attribute{name: strings.ToLower(s.source[start:i]), start: start, valueStart: i, valueEnd: i}
	value := s.skipSpace(i)
	if value == len(s.source) || s.source[value] != '=' {
		return a
	}
	a.assigned = true
	value = s.skipSpace(value + 1)
	a.valueStart, a.valueEnd = value, value
	if value == len(s.source) {
		return a
	}
	if q := s.source[value]; q == '"' || q == '\'' {
		end := s.find(value+1, q)
		a.valueStart = value + 1
		if a.quote = q; end <= a.valueStart || s.source[end-1] != q {
			a.quote = 0
			end++
		}
		a.valueEnd = min(end-1, len(s.source))
		return a
	}
	for a.valueEnd < len(s.source) && !isSpace(s.source[a.valueEnd]) && s.source[a.valueEnd] != '>' {
		if end := s.tags.end(a.valueEnd); end > 0 {
			a.valueEnd = end
			continue
		}
		a.valueEnd++
	}
	return a
}

// skipSpace returns the offset of the next byte at or after i that is not white space.
func (s *scanner) skipSpace(i int) int {
	for i < len(s.source) && isSpace(s.source[i]) {
		i++
	}
	return i
}

// rawText emits the content of a raw element. It ends at its end tag or with the source.
func (s *scanner) rawText(name string) {
	if s.lower == "" {
		s.lower = lowerASCII(s.source)
	}
	end := len(s.source)
	for from := s.at; ; {
		i := strings.Index(s.lower[from:], "</"+name)
		if i < 0 {
			break
		}
		from += i + len("</") + len(name)
		if from == len(s.source) || isSpace(s.source[from]) || s.source[from] == '/' || s.source[from] == '>' {
			end = from - len("</") - len(name)
			break
		}
	}
	if end > s.at {
		s.emit(token{kind: text, start: s.at, end: end})
	}
}

// lowerASCII returns s with ASCII letters in lower case. All byte offsets stay the same.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

// HasTag reports whether a template has at least one HTML start tag outside of its
// Handlebars tags, comments and scripts.
func HasTag(source string) bool {
	return slices.ContainsFunc(scan(source), func(t token) bool { return t.kind == startTag })
}
