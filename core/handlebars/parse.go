package handlebars

import (
	"strings"
	"unicode/utf8"
)

// Mode says where the output of a template is used.
type Mode int

const (
	// HTML is the HTML part of a message. Values are escaped as their places require.
	HTML Mode = iota
	// Text is a subject or a plain text. Nothing is escaped.
	Text
)

// Template is a compiled source. It may be executed by several goroutines at once.
type Template struct {
	operations []operation
	paths      []path
	variables  []Variable
	// assets has the paths of {{asset "path"}}, in order of their first use.
	assets []string
	// slots are the operations of the slots; see ExecuteSlots.
	slots []slot
}

// Parse compiles the source of a template. The error is of type [Faults] and has the faults
// of the whole source.
func Parse(source string, mode Mode) (*Template, error) {
	root, err := parseProgram(source, mode)
	if err != nil {
		return nil, err
	}
	return compile(root), nil
}

// parseProgram returns the nodes of a template, with the escaping of each value. It fails
// as Parse does.
func parseProgram(source string, mode Mode) (*program, error) {
	p := &parser{source: source, faults: &faultList{}, root: &program{}}
	p.into = p.root
	switch {
	case len(source) > MaxSource:
		p.faults.add(0, CodeTooLong, "the source has %d bytes; at most %d are allowed", len(source), MaxSource)
	case !utf8.ValidString(source):
		p.faults.add(invalidAt(source), CodeSyntax, "the source is not valid UTF-8")
	default:
		p.parse()
	}
	if !p.broken && len(p.faults.faults) < MaxFaults {
		stripWhitespace(p.root)
		if mode == HTML {
			(&escapePass{faults: p.faults}).run(p.root)
		}
	}
	if err := p.faults.err(source); err != nil {
		return nil, err
	}
	return p.root, nil
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}

// parser splits a source into text and tags, and nests them by blocks. After a fault it
// continues with the next tag.
type parser struct {
	source string
	at     int
	faults *faultList
	root   *program
	// into is the program to which nodes are added: the current arm of the innermost block.
	into *program
	open []*openBlock
	// broken means that the nesting of blocks is not known, so that the passes over the whole
	// tree would report wrong faults.
	broken bool
}

func (p *parser) parse() {
	for p.at < len(p.source) && !p.faults.full() {
		found := strings.Index(p.source[p.at:], "{{")
		if found < 0 {
			p.text(p.at, len(p.source))
			p.at = len(p.source)
			break
		}
		start, before := p.at, p.source[p.at:p.at+found]
		p.at += found
		switch {
		case strings.HasSuffix(before, `\\`):
			p.text(start, p.at-1)
			p.tag()
		case strings.HasSuffix(before, `\`):
			p.text(start, p.at-1)
			p.escaped()
		default:
			p.text(start, p.at)
			p.tag()
		}
	}
	for _, b := range p.open {
		p.broken = true
		p.faults.add(b.root.at, CodeSyntax, "the block %s is not closed; expected %s", quote(b.name), quote("{{/"+b.name+"}}"))
	}
}

func (p *parser) text(start, end int) {
	if s := p.source[start:end]; s != "" {
		p.add(&node{kind: nodeText, at: start, original: s, text: s})
	}
}

func (p *parser) add(n *node) { p.into.body = append(p.into.body, n) }

// escaped reads the text of \{{, which extends to the next tag or to the backslashes before
// it.
func (p *parser) escaped() {
	const opening = len("{{")
	start := p.at
	p.at = len(p.source)
	if found := strings.Index(p.source[start+opening:], "{{"); found >= 0 {
		p.at = start + opening + found
		for range 2 {
			if p.at > start+opening && p.source[p.at-1] == '\\' {
				p.at--
			}
		}
	}
	p.text(start, p.at)
}

// tag reads the tag at p.at, which begins with two braces.
func (p *parser) tag() {
	start, rest := p.at, p.source[p.at:]
	if strings.HasPrefix(rest, "{{{{") {
		p.unsupported(start, "raw blocks with four braces")
		p.skipTo("}}}}")
		return
	}
	t := &tag{parser: p, start: start, lexer: tagLexer{source: p.source, at: start + len("{{")}}
	if t.take("~") {
		t.strip.open = true
	}
	switch {
	case t.take("!"):
		p.comment(t)
	case t.take("{"):
		t.raw, t.lexer.triple = true, true
		t.value()
	case t.take("&"):
		t.raw = true
		t.value()
	case t.take("#"):
		t.openBlock()
	case t.take("/"):
		t.closeBlock()
	case t.take("^"):
		t.inverse()
	case t.take(">"):
		t.partial()
	case t.take("*"):
		t.unsupported("decorators")
	default:
		t.value()
	}
}

// comment reads a comment, which ends with "}}", or with "--}}" if it begins with "!--".
func (p *parser) comment(t *tag) {
	rest := p.source[t.lexer.at:]
	end := 0
	if strings.HasPrefix(rest, "--") {
		end = longCommentEnd(rest)
	} else if found := strings.Index(rest, "}}"); found >= 0 {
		end = found + len("}}")
	}
	if end == 0 {
		p.broken = true
		p.faults.add(t.start, CodeSyntax, "the comment is not closed; expected %s", closeOfComment(rest))
		p.at = len(p.source)
		return
	}
	p.at = t.lexer.at + end
	t.strip.close = p.source[p.at-len("~}}")] == '~'
	p.add(&node{kind: nodeEmpty, at: t.start, strip: t.strip})
}

func closeOfComment(rest string) string {
	if strings.HasPrefix(rest, "--") {
		return "`--}}`"
	}
	return "`}}`"
}

// longCommentEnd returns the offset after the first "--}}" or "--~}}", or 0.
func longCommentEnd(rest string) int {
	for at := 0; ; at++ {
		found := strings.Index(rest[at:], "--")
		if found < 0 {
			return 0
		}
		at += found
		after := rest[at+len("--"):]
		if strings.HasPrefix(after, "}}") {
			return at + len("--}}")
		}
		if strings.HasPrefix(after, "~}}") {
			return at + len("--~}}")
		}
	}
}

func (p *parser) unsupported(at int, what string) {
	p.broken = true
	p.faults.add(at, CodeUnsupported, "templates cannot use %s", what)
}

// skipTo continues after the next close, or at the next tag if that comes first. from is
// where the search begins.
func (p *parser) skipTo(end string) {
	from := p.at + len("{{")
	for from < len(p.source) && p.source[from] == '{' {
		from++
	}
	rest := p.source[from:]
	next, closed := strings.Index(rest, "{{"), strings.Index(rest, end)
	switch {
	case closed >= 0 && (next < 0 || closed < next):
		p.at = from + closed + len(end)
	case next >= 0:
		p.at = from + next
	default:
		p.at = len(p.source)
	}
}
