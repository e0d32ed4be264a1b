package predicatelint

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// warning returns a finding in words, at its position.
func (l *linter) warning(f finding) predicate.Warning {
	w := predicate.Warning{Kind: f.kind, Message: f.text}
	at := f.at
	switch f.kind {
	case Never, Always:
		this := f.parts[len(f.parts)-1]
		at, w.Message = this.At, l.verdict(f, this)
		w.Suggestion = eitherValue(f)
	case Repeated:
		if len(f.parts) > 0 {
			at, w.Message = f.parts[0].At, "this repeats "+l.name(f.parts[1])+"; remove it"
		}
	}
	if f.consequence != "" {
		w.Message += "; " + f.consequence
	}
	w.Line, w.Column = l.tree.Position(at)
	return w
}

// verdict returns the message of a finding of the kind Never or Always at the part this.
func (l *linter) verdict(f finding, this *predicate.Part) string {
	var others []string
	for _, p := range f.parts {
		if p != this {
			others = append(others, l.name(p))
		}
	}
	switch {
	case f.kind == Never && len(others) == 0:
		return "no " + f.noun + " matches this" + quoted(this) + "; change it"
	case f.kind == Never:
		return "no " + f.noun + " matches this" + quoted(this) + " together with " + strings.Join(others, " and ") + "; change one of them"
	case len(others) == 0:
		return "every " + f.noun + " matches this" + quoted(this) + "; change or remove it"
	}
	return "every " + f.noun + " matches this" + quoted(this) + " or " + strings.Join(others, " or ") + "; change one of them"
}

// longest is the maximum length of a part in a message, in bytes. Longer ones are named by
// their position alone.
const longest = 120

// quoted returns the words of a part in parentheses, with a space before.
func quoted(p *predicate.Part) string {
	if p.Kind != predicate.Test || len(p.Text) > longest {
		return ""
	}
	return " (" + p.Text + ")"
}

// name returns the position and words of a part.
func (l *linter) name(p *predicate.Part) string {
	line, column := l.tree.Position(p.At)
	what := ""
	if p.Kind != predicate.Test {
		what = "the parts at "
	}
	return fmt.Sprintf("%sline %d, column %d%s", what, line, column, quoted(p))
}

// eitherValue returns a test of both values if a finding is about two tests that require
// different values of one field: attr.plan in ["a", "b"]. Else it returns "".
func eitherValue(f finding) string {
	if f.kind != Never || len(f.parts) != 2 {
		return ""
	}
	var in predicate.In
	for _, p := range f.parts {
		c, is := p.Test.(*predicate.Compare)
		if !is || c.Op != predicate.Equal || p.Negated || c.Value.Type == predicate.Bool || c.Value.Moment.Relative {
			return ""
		}
		in.Field, in.Values = c.Field, append(in.Values, c.Value)
	}
	if text := predicate.Canonical(&in); len(text) <= longest {
		return text
	}
	return ""
}
