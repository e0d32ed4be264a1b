package storage

import (
	"math"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// start is the key that a page newest first begins behind: that of after, or one
// above every row.
func start(after *core.After) (Time, string) {
	if after == nil {
		return math.MaxInt64, ""
	}
	return At(after.At), after.ID
}

// searchText holds name and key on lines of their own, so that no match reaches
// from one into the other.
func searchText(name, key string) string { return strings.ToLower(name + "\n" + key) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// searchPattern is the LIKE pattern that finds query anywhere in a searchText.
func searchPattern(query string) string {
	return "%" + likeEscaper.Replace(strings.ToLower(query)) + "%"
}
