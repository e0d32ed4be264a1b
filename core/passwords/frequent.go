package passwords

import (
	_ "embed" // the list
	"strings"
)

// frequent is the list, one password a line, sorted by bytes.
//
//go:embed frequent.txt
var frequent string

// isFrequent reports whether the list has the word, by binary search. word must be folded.
func isFrequent(word string) bool {
	low, high := 0, len(frequent) // both at the beginning of a line
	for low < high {
		begin := strings.LastIndexByte(frequent[:(low+high)/2], '\n') + 1
		line, _, _ := strings.Cut(frequent[begin:high], "\n")
		switch {
		case line == word:
			return true
		case line < word:
			low = begin + len(line) + 1
		default:
			high = begin
		}
	}
	return false
}
