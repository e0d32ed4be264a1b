package language

import (
	"bytes"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Format returns source in its canonical spelling, with its comments and at most one empty
// line between statements. A comment on a line of its own stays before the statement that it
// precedes, and a comment after a statement stays on its line. A comment inside of a
// statement moves behind it. Formatting the result again does not change it.
// Format fails as [Parse] does.
func Format(source string) (string, error) {
	tree, err := Parse(source)
	if err != nil {
		return "", err
	}
	p := &printer{layout: layoutOf(source)}
	p.before(tree.start)
	p.tree(tree)
	p.before(Offset(len(source)))
	return p.String(), nil
}

// layout is what the tree of a source does not have: its comments and empty lines.
type layout struct {
	source string
	// comments are those that are not printed yet, in the order of the source.
	comments []comment
}

// comment is a comment of a source, from "#" or "//" to the end of its line.
type comment struct {
	at   Offset
	text string
	// trailing is true if a token is before the comment on its line.
	trailing bool
}

func layoutOf(source string) *layout {
	l := &layout{source: source}
	end := 0
	for {
		t := predicate.TokenAt(source, end)
		l.gap(end, t.Start)
		if t.Kind == predicate.EndToken {
			return l
		}
		end = t.End
	}
}

// gap adds the comments between two tokens.
func (l *layout) gap(start, end int) {
	trailing := start > 0
	for start < end {
		line, _, more := strings.Cut(l.source[start:end], "\n")
		if text := strings.TrimSpace(line); text != "" {
			at := start + strings.Index(line, text)
			l.comments = append(l.comments, comment{Offset(at), text, trailing})
		}
		trailing = false
		start += len(line)
		if more {
			start++
		}
	}
}

// emptyLineBefore reports whether the line before that of an offset is empty, and the offset
// is at the beginning of its line.
func (l *layout) emptyLineBefore(at Offset) bool {
	line := strings.LastIndexByte(l.source[:at], '\n')
	if line < 0 || strings.TrimSpace(l.source[line:at]) != "" {
		return false
	}
	previous := strings.LastIndexByte(l.source[:line], '\n') + 1
	return strings.TrimSpace(l.source[previous:line]) == ""
}

// before prints the comments that are before the statement or the "}" at an offset, and the
// empty lines of the source. Without a layout it prints nothing.
func (p *printer) before(at Offset) {
	if p.layout == nil {
		return
	}
	for len(p.layout.comments) > 0 && p.layout.comments[0].at < at {
		c := p.layout.comments[0]
		p.layout.comments = p.layout.comments[1:]
		if c.trailing && p.appendToLine(c.text) {
			continue
		}
		p.emptyLine(c.at)
		p.line(c.text)
	}
	if int(at) < len(p.layout.source) && p.layout.source[at] != '}' {
		p.emptyLine(at)
	}
}

// separate prints the comments before the first step, and an empty line between settings and
// steps if there is none.
func (p *printer) separate(at Offset) {
	if p.layout == nil {
		p.WriteByte('\n')
		return
	}
	if len(p.layout.comments) > 0 && p.layout.comments[0].at < at && p.layout.comments[0].trailing {
		p.before(p.layout.comments[0].at + 1)
	}
	p.gapLine()
}

// emptyLine prints an empty line if the source has one before the line of the offset.
func (p *printer) emptyLine(at Offset) {
	if p.layout.emptyLineBefore(at) {
		p.gapLine()
	}
}

// gapLine prints an empty line, except at the beginning of the text or of a block and after
// another empty line.
func (p *printer) gapLine() {
	text := p.Bytes()
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n\n")) && !bytes.HasSuffix(text, []byte("{\n")) {
		p.WriteByte('\n')
	}
}

// appendToLine adds a comment to the last line. It returns false if that is not possible,
// because the line is empty or has a comment.
func (p *printer) appendToLine(text string) bool {
	end := p.Len() - 1 // the line end
	line := string(p.Bytes()[bytes.LastIndexByte(p.Bytes()[:max(end, 0)], '\n')+1:])
	if strings.TrimSpace(line) == "" || len(layoutOf(line).comments) > 0 {
		return false
	}
	p.Truncate(end)
	p.WriteString(" " + text + "\n")
	return true
}
