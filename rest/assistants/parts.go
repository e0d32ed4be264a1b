package assistants

import "strings"

// Style is how a part of a text is shown.
type Style string

// The styles of parts.
const (
	Plain  Style = ""
	Code   Style = "code"   // a name, a path or a value
	Strong Style = "strong" // a label in a user interface
)

// Part is a part of a text in one style.
type Part struct {
	Style Style
	Text  string
}

// Parts splits the text of a step into parts, for pages that do not render Markdown. In the
// text, names are between backticks and labels between asterisks.
func (s Step) Parts() []Part {
	var parts []Part
	for rest := s.Text; rest != ""; {
		at := strings.IndexAny(rest, "`*")
		if at < 0 {
			return append(parts, Part{Plain, rest})
		}
		if at > 0 {
			parts = append(parts, Part{Plain, rest[:at]})
		}
		style := Code
		if rest[at] == '*' {
			style = Strong
		}
		inner, after, _ := strings.Cut(rest[at+1:], rest[at:at+1])
		parts, rest = append(parts, Part{style, inner}), after
	}
	return parts
}
