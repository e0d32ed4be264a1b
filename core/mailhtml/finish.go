package mailhtml

import (
	"html"
	"slices"
	"strings"
)

// The functions in this file complete a template before it is sent: they find what it has
// already, and where to add what it lacks.

// UsesLink reports whether the HTML links to one of the named variables or prints it. A
// condition on the variable, and a use in a comment or a style sheet, do not count.
func UsesLink(source string, names ...string) bool {
	d := parse(source)
	return slices.ContainsFunc(d.tokens, func(t token) bool {
		switch t.kind {
		case handlebars:
			return UsesName(d.raw(t), names...)
		case startTag:
			href, _ := d.value(t, "href")
			return t.name == "a" && UsesName(href, names...)
		}
		return false
	})
}

// UsesName reports whether a Handlebars tag of the text prints one of the named variables.
func UsesName(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return usesName(text, name) })
}

// Words returns the text between the tags of a template in the order of the source, with
// one space where there is white space or a tag. Unlike in [Text], the text of hidden
// elements is included. Handlebars tags, comments, scripts and style sheets are left out.
func Words(source string) string {
	d := parse(source)
	var b strings.Builder
	for _, t := range d.tokens {
		if t.kind == text && !rawElements[t.element.name] {
			b.WriteString(html.UnescapeString(d.raw(t)))
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// AppendToBody returns the template with markup added at the end of its body: before the
// last </body> or </html> outside of Handlebars blocks, else at the end of the source.
func AppendToBody(source, markup string) string {
	at, depth := map[string]int{}, 0
	for _, t := range scan(source) {
		switch t.kind {
		case handlebars:
			switch roleOf(source[t.start:t.end]) {
			case opening:
				depth++
			case closing:
				depth--
			}
		case endTag:
			if depth == 0 {
				at[t.name] = t.start
			}
		}
	}
	end := len(source)
	for _, name := range []string{"html", "body"} {
		if i, ok := at[name]; ok {
			end = i
		}
	}
	return source[:end] + markup + source[end:]
}

// ReplaceSources returns the template with the values of its src attributes replaced.
// replace gets a value without character references, and returns the new value, or false
// for a value that stays as written. Values with Handlebars tags stay as written.
func ReplaceSources(source string, replace func(src string) (string, bool)) string {
	var b strings.Builder
	at := 0
	for _, t := range scan(source) {
		for _, a := range t.attributes {
			value := source[a.valueStart:a.valueEnd]
			if a.name != "src" || !a.assigned || strings.Contains(value, "{{") {
				continue
			}
			src, ok := replace(strings.TrimSpace(html.UnescapeString(value)))
			if !ok {
				continue
			}
			written := html.EscapeString(src)
			if a.quote == 0 {
				written = `"` + written + `"`
			}
			b.WriteString(source[at:a.valueStart] + written)
			at = a.valueEnd
		}
	}
	b.WriteString(source[at:])
	return b.String()
}
