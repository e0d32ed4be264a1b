package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// LineCount describes a number of lines of a file and the first line numbers, such as
// "3 (lines 4, 5, 6)". An ellipsis follows if the parameter first has fewer than count
// numbers. LineCount returns "0" if count is 0.
func LineCount(count int, first []int) string {
	if count == 0 {
		return "0"
	}
	numbers := make([]string, len(first))
	for i, n := range first {
		numbers[i] = strconv.Itoa(n)
	}
	word := "line"
	if count > 1 {
		word = "lines"
	}
	text := fmt.Sprintf("%d (%s %s", count, word, strings.Join(numbers, ", "))
	if count > len(first) {
		text += ", ..."
	}
	return text + ")"
}
