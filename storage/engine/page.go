package engine

import (
	"math"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// PageStart returns the time and id of after, the cursor of a page that is sorted newest
// first. If after is nil, it returns a time above that of every row.
func PageStart(after *core.After) (Time, string) {
	if after == nil {
		return math.MaxInt64, ""
	}
	return At(after.At), after.ID
}

// SearchText returns name and key in lower case, on separate lines, so that a search cannot
// match across both.
func SearchText(name, key string) string { return strings.ToLower(name + "\n" + key) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// SearchPattern returns the LIKE pattern that matches every [SearchText] that contains
// query.
func SearchPattern(query string) string { return LikePattern(strings.ToLower(query)) }

// LikePattern returns the LIKE pattern that matches every text that contains part. Its
// escape character is the backslash.
func LikePattern(part string) string { return "%" + likeEscaper.Replace(part) + "%" }
