package contacts

import "strconv"

// countOf returns a number with its noun: 1 list, 2 lists.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
