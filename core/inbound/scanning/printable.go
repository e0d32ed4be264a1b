package scanning

import "strings"

// maxText is the maximum number of characters of a text from a scanner.
const maxText = 200

// Printable returns a text from a scanner without control characters, and cut to 200
// characters.
func Printable(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?")))
	return string(runes[:min(len(runes), maxText)])
}
