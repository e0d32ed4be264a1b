package core

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotable makes a text that an outsider wrote fit to stand, quoted, in a
// sentence of ours: invisible and direction-changing characters removed, white
// space folded, the backticks that we quote with replaced, at most limit runes with
// an ellipsis for the rest.
func Quotable(s string, limit int) string {
	s, _ = VisibleText(s)
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "`", "'")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Quoted is a name that others wrote as it stands in a sentence of ours: made
// [Quotable] at 80 characters and put in quotation marks, of which it then has
// none of its own to end the quotation with.
func Quoted(name string) string {
	const longest = 80
	return `"` + strings.ReplaceAll(Quotable(name, longest), `"`, "'") + `"`
}

// QuotedList is at most ten names, each [Quoted], and how many there are besides.
func QuotedList(names []string) string {
	const shown = 10
	quoted := make([]string, 0, shown)
	for _, name := range names[:min(shown, len(names))] {
		quoted = append(quoted, Quoted(name))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// VisibleText removes from s the characters a reader cannot see but a machine
// obeys: control characters except tab and newline, bidirectional overrides,
// zero-width characters, tag characters, blank fillers and the variation
// selectors that carry no emoji form. It returns how many it removed.
func VisibleText(s string) (visible string, removed int) {
	if isPlain(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if hidden(r) {
			removed++
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), removed
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < 0x20 && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// hidden follows Unicode: the general categories Cc and Cf, which hold controls,
// zero-width characters, bidi marks and tags, and what else it says to show nothing
// for: fillers, variation selectors and the places it keeps for more of the kind.
func hidden(r rune) bool {
	const emojiForm = 0xFE0F // is to be seen, in the emoji before it
	if r == '\t' || r == '\n' || r == emojiForm {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
