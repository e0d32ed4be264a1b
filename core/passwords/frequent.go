package passwords

import (
	_ "embed" // the list
	"strings"
)

// frequent is the list of the 10,000 most common passwords, one a line, sorted by bytes.
//
//go:embed frequent.txt
var frequent string

// isFrequent reports whether the list of common passwords has the word, by binary search.
// The caller passes the word through foldCase first.
func isFrequent(word string) bool {
	// offsets in frequent, each of the beginning of a line or of the end of the text
	low, high := 0, len(frequent)
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
