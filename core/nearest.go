package core

import "strings"

// NearestWord returns the candidate that a misspelled word probably means, "" if none is
// similar. It prefers a candidate that differs only in case, then the one with the smallest
// edit distance. The distance must be at most two and less than half of the word's length.
// Among equals it returns the first in alphabetical order.
func NearestWord(word string, candidates []string) string {
	const longest = 64
	limit := min(2, (len(word)-1)/2)
	if len(word) > longest {
		return ""
	}
	best, distance := "", limit+1
	for _, candidate := range candidates {
		if strings.EqualFold(word, candidate) {
			return candidate
		}
		d := editDistance(word, candidate, limit)
		if d < distance || d == distance && d <= limit && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, replacements and swaps of
// adjacent bytes that turn a into b. It returns limit+1 if there are more than limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	earlier, above := make([]int, len(b)+1), make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], earlier[j-1]+1)
			}
		}
		earlier, above, row = above, row, earlier
	}
	return min(above[len(b)], limit+1)
}
