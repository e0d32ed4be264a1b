package core

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotable prepares a text of an outsider for quoting in a sentence of Mailhelm. It removes
// invisible and direction-changing characters, folds white space, replaces backticks, and
// cuts the text at limit runes with an ellipsis.
func Quotable(s string, limit int) string {
	s, _ = VisibleText(s)
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "`", "'")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Quote returns a name that an outsider wrote, made [Quotable] at 80 characters and put in
// quotation marks. Quotation marks inside are replaced, so that the name cannot end the
// quotation.
func Quote(name string) string {
	const longest = 80
	return `"` + strings.ReplaceAll(Quotable(name, longest), `"`, "'") + `"`
}

// QuotedList returns at most ten names, each [Quoted], and the number of the others.
func QuotedList(names []string) string {
	const shown = 10
	quoted := make([]string, 0, shown)
	for _, name := range names[:min(shown, len(names))] {
		quoted = append(quoted, Quote(name))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// VisibleText removes from s the characters that a reader cannot see and a machine obeys:
// control characters except tab and newline, bidirectional overrides, zero-width characters,
// tag characters, blank fillers and variation selectors without an emoji form. It returns
// how many it removed.
func VisibleText(s string) (visible string, removed int) {
	if isPlain(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if isHidden(r) {
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

// isHidden reports whether r is invisible. These are the general categories Cc and Cf, with
// controls, zero-width characters, bidi marks and tags. Fillers, variation selectors and the
// code points that are reserved for such characters are invisible too.
func isHidden(r rune) bool {
	const emojiForm = 0xFE0F // visible: it selects the emoji form of the character before it
	if r == '\t' || r == '\n' || r == emojiForm {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
