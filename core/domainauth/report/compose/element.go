package compose

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of package report.
const (
	maxValue   = 1024 // of a value as it is written, in bytes
	maxErrors  = 20
	maxReasons = 20
	maxResults = 100
	maxCount   = 100_000_000_000
)

// refuse fails because of the value of an element.
func (x *writer) refuse(element, value, problem string) {
	if x.err != nil {
		return
	}
	where := ""
	if x.within != "" {
		where = " of " + x.within
	}
	x.err = fmt.Errorf("%s%s: %q %s", element, where, value, problem)
}

// required returns a value, and fails if it is empty.
func required(x *writer, element, value string) string {
	if value == "" {
		x.refuse(element, value, "is missing")
	}
	return value
}

func (x *writer) print(parts ...string) {
	for _, part := range parts {
		if x.err == nil {
			_, x.err = x.out.WriteString(part)
		}
	}
}

const tabs = "\t\t\t\t\t"

func (x *writer) start(depth int, element string) { x.print(tabs[:depth], "<", element, ">\n") }
func (x *writer) end(depth int, element string)   { x.print(tabs[:depth], "</", element, ">\n") }

// word writes a domain or a keyword, which readers put in lower case.
func (x *writer) word(depth int, element, value string) {
	if strings.HasSuffix(value, ".") || strings.ContainsFunc(value, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		x.refuse(element, value, "must be in lower case, without a dot at the end")
	}
	x.text(depth, element, value)
}

var references = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// text writes an element with a text, unless the text is empty.
func (x *writer) text(depth int, element, value string) {
	if value == "" {
		return
	}
	written := references.Replace(value)
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, isNotText):
		x.refuse(element, value, "has characters that XML cannot have here")
	case value[0] == ' ' || value[len(value)-1] == ' ':
		x.refuse(element, value, "begins or ends with a space")
	case len(written) > maxValue:
		x.refuse(element, value[:40], "is too long")
	}
	x.print(tabs[:depth], "<", element, ">", written, "</", element, ">\n")
}

// isNotText reports whether a character is a control character, or none of XML. Line ends and tabs
// are among them, because readers change them.
func isNotText(r rune) bool { return r < ' ' || r == 0xFFFE || r == 0xFFFF }
