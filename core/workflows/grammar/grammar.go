package grammar

import (
	_ "embed" // the reference below
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Reference is the reference of the language, in Markdown without a first heading. A test
// writes it: each rule with its meaning, a valid example, and wrong ones with their messages.
//
//go:embed grammar.md
var Reference string

// Keywords returns the words of the language, sorted, those of predicates included.
func Keywords() []string {
	words := append(predicate.Keywords(), keywords...)
	slices.Sort(words)
	return slices.Compact(words)
}
