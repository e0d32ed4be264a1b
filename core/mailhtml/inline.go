package mailhtml

import (
	"fmt"
	"slices"
	"strings"
)

// Inline writes the rules of the style elements into style attributes, because some mail
// programs ignore style elements. Of several declarations of a property, the one with the
// highest precedence is written: existing style attributes win over rules, unless a rule is
// important. Rules that were applied are removed. Applying Inline to its own result changes
// nothing.
//
// These rules stay as they are:
//   - at-rules such as @media and @font-face, whose declarations need !important to have an
//     effect, and style elements with a media attribute;
//   - rules with a selector that depends on the reader (a:hover), and rules that match no
//     element, which are often for one mail program;
//   - rules with invalid syntax, which Lint reports;
//   - rules about which data decides: those in a Handlebars block, and those that match an
//     element only for some data, such as one with class="{{x}}" or the first row of a table
//     whose rows a block repeats. Such an element keeps its own style attribute, so that no
//     rule of less weight wins;
//   - all rules that were applied, if the mail has HTML from data: {{{x}}} or {{> x}}
//     between tags.
//
// All bytes outside of style elements and of the start tags that get a style stay as they
// are. A style element in head that has no rules left is removed.
//
// The error is ErrTooComplex if a bound is exceeded: 1 MB of input or output, 10,000 rules,
// 10,000,000 comparisons, or 1,000,000 declarations for all elements together.
func Inline(source string) (string, error) {
	if len(source) > maxSource {
		return "", fmt.Errorf("%w: it is longer than %d bytes", ErrTooComplex, maxSource)
	}
	d := parse(source)
	sheets, err := d.applyRules()
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, s := range sheets {
		edits = append(edits, d.removeApplied(s)...)
	}
	for _, e := range d.elements {
		if !slices.Equal(e.style.merged, e.style.own) {
			edits = append(edits, d.setStyle(e))
		}
	}
	return applyEdits(source, edits)
}

// edit replaces the bytes of a source from start to end.
type edit struct {
	start, end int
	text       string
}

// applyEdits returns the source with all edits.
func applyEdits(source string, edits []edit) (string, error) {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(source[at:e.start])
		b.WriteString(e.text)
		if at = e.end; b.Len() > maxSource {
			break
		}
	}
	b.WriteString(source[at:])
	if b.Len() > maxSource {
		return "", fmt.Errorf("%w: the result is longer than %d bytes", ErrTooComplex, maxSource)
	}
	return b.String(), nil
}

// removeApplied removes the rules of a style element that were applied, and the element if
// it is in head and nothing is left.
func (d *document) removeApplied(s sheet) []edit {
	if d.foreign {
		return nil
	}
	var edits []edit
	tag, content := d.tokens[s.tag], d.tokens[s.tag+1]
	var rest strings.Builder
	at := content.start
	for _, r := range s.rules {
		if !r.stays {
			edits = append(edits, edit{start: r.prior, end: r.end})
			rest.WriteString(d.source[at:r.prior])
			at = r.end
		}
	}
	rest.WriteString(d.source[at:content.end])
	if len(edits) == 0 || tag.element.parent.name != "head" || !isEmptyCSS(rest.String()) || s.tag+2 >= len(d.tokens) {
		return edits
	}
	return []edit{{start: tag.start, end: d.tokens[s.tag+2].end}}
}

// isEmptyCSS reports whether CSS has only white space and comments.
func isEmptyCSS(source string) bool {
	c := readCSS(source)
	return len(c.tagged) == 0 && !slices.ContainsFunc(c.tokens, func(t cssToken) bool { return !t.blank() })
}

// setStyle writes the merged declarations of an element into its start tag.
func (d *document) setStyle(e *element) edit {
	t := d.tokens[e.tag]
	declarations := make([]string, len(e.style.merged))
	for i, one := range e.style.merged {
		declarations[i] = one.String()
	}
	written := "style=\"" + attributeText(strings.Join(declarations, ";")) + "\""
	for _, a := range t.attributes {
		if a.name == "style" {
			return edit{start: a.start, end: a.end(), text: written}
		}
	}
	return edit{start: t.nameEnd, end: t.nameEnd, text: " " + written}
}

// attributeText returns CSS as the value of an attribute in double quotation marks.
// Handlebars tags stay as they are.
func attributeText(value string) string {
	plain := readCSS(value).masked
	quote := "&quot;"
	if !strings.ContainsAny(plain, `'\`) {
		// A string of CSS may have either kind of quotation marks. Single ones are easier to
		// read.
		quote = "'"
	}
	escape := strings.NewReplacer("&", "&amp;", `"`, quote)
	var b strings.Builder
	tags := tagFinder{source: value}
	from := 0
	for i := strings.Index(value, "{{"); i >= 0 && i < len(value); i++ {
		if end := tags.end(i); end > 0 {
			b.WriteString(escape.Replace(value[from:i]))
			b.WriteString(value[i:end])
			from, i = end, end-1
		}
	}
	b.WriteString(escape.Replace(value[from:]))
	return b.String()
}
