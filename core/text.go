package core

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotable prepares a text of a customer or an outsider, so that Mailhelm can quote it in a
// sentence. It removes invisible and direction-changing characters, folds white space,
// replaces backticks, and cuts the text at limit runes with an ellipsis.
func Quotable(s string, limit int) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(OnlyVisible(s)), " "), "`", "'")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Quote returns a name in quotation marks. [Quotable] cleans the name and cuts it to 80
// characters. Quotation marks in the name are replaced, so that it cannot end the
// quotation.
func Quote(name string) string {
	const longest = 80
	return `"` + strings.ReplaceAll(Quotable(name, longest), `"`, "'") + `"`
}

// QuotedList returns at most ten of the names, each in the form of [Quote], and the number
// of the others.
func QuotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Quote(name)
	}
	return ShortList(quoted)
}

// ShortList returns at most ten of the items, and the number of the others. It does not quote
// them.
func ShortList(items []string) string {
	const shown = 10
	text := strings.Join(items[:min(shown, len(items))], ", ")
	if more := len(items) - shown; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// WithCommas returns a number with commas between groups of three digits, such as 40,000,000.
func WithCommas[T ~int | ~int64](n T) string {
	digits, sign := strconv.FormatInt(int64(n), 10), ""
	if n < 0 {
		digits, sign = digits[1:], "-"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// VisibleText returns s without characters that a person cannot see but a program may act
// on. These are control characters except tab and newline, bidirectional overrides,
// zero-width and tag characters, blank fillers, and variation selectors except the emoji
// form. It also returns how many it removed.
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

// OnlyVisible returns s as [VisibleText] does, for callers that need no number.
func OnlyVisible(s string) string {
	visible, _ := VisibleText(s)
	return visible
}

// CheckLine fails with [CodeValidationFailed] for a text that is empty, has more than limit
// characters, or is not one line of visible characters. field is the member of the request
// that the error names.
func CheckLine(field, text string, limit int) error {
	visible, hidden := VisibleText(text)
	switch {
	case strings.TrimSpace(visible) == "":
		return Invalid(field, "must not be empty")
	case utf8.RuneCountInString(text) > limit:
		return Invalid(field, fmt.Sprintf("must have at most %d characters", limit))
	case hidden > 0 || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\t"):
		return Invalid(field, "must be one line of visible characters")
	}
	return nil
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < 0x20 && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// isHidden reports whether r is invisible: a control or format character (general
// categories Cc and Cf), a filler, a variation selector, or a code point reserved for such
// characters. Tab, newline and the emoji variation selector are not hidden.
func isHidden(r rune) bool {
	const emojiForm = 0xFE0F // has a visible effect: it selects the emoji form of the character before it
	if r == '\t' || r == '\n' || r == emojiForm {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
