package engine

import (
	"math"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// PageStart is the key that a page newest first begins behind: that of after, or one
// above every row.
func PageStart(after *core.After) (Time, string) {
	if after == nil {
		return math.MaxInt64, ""
	}
	return At(after.At), after.ID
}

// SearchText returns name and key on lines of their own, so that no match reaches
// from one into the other.
func SearchText(name, key string) string { return strings.ToLower(name + "\n" + key) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// SearchPattern is the LIKE pattern that finds query anywhere in a SearchText.
func SearchPattern(query string) string {
	return "%" + likeEscaper.Replace(strings.ToLower(query)) + "%"
}
