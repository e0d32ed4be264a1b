package engine

import (
	"math"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// PageStart returns the key below which a page, newest first, begins: the key of after,
// or a key above every row if after is nil.
func PageStart(after *core.After) (Time, string) {
	if after == nil {
		return math.MaxInt64, ""
	}
	return At(after.At), after.ID
}

// SearchText returns name and key in lower case on separate lines, so that a match cannot
// span both.
func SearchText(name, key string) string { return strings.ToLower(name + "\n" + key) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// SearchPattern returns the LIKE pattern that finds query anywhere in a SearchText.
func SearchPattern(query string) string {
	return "%" + likeEscaper.Replace(strings.ToLower(query)) + "%"
}
