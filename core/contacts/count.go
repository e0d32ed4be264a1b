package contacts

import "strconv"

// countOf returns a number with its noun, in the plural unless it is 1: "1 list", "2
// lists".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
