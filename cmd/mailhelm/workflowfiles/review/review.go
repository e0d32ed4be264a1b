// Package review finds the faults and warnings of the source of a workflow, for commands and
// editors.
package review

import (
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Result is what a review found.
type Result struct {
	// Tree is nil if the syntax has faults.
	Tree     *language.Tree
	Faults   predicate.Errors
	Warnings []predicate.Warning
}

// Valid reports whether the source has no faults. It may have warnings.
func (r Result) Valid() bool { return len(r.Faults) == 0 }

// Source reviews a source. schema has the names of the organization; if it is nil, names are
// not checked.
func Source(source string, schema *language.Schema) Result {
	tree, err := language.Parse(source)
	if err != nil {
		return Result{Faults: predicate.FaultsOf(err)}
	}
	r := Result{Tree: tree}
	if schema == nil {
		r.Warnings, err = language.CheckWithoutNames(tree)
		r.Faults = predicate.FaultsOf(err)
		return r
	}
	checked, err := language.Check(tree, *schema)
	if err != nil {
		r.Faults = predicate.FaultsOf(err)
		return r
	}
	r.Warnings = checked.Warnings()
	return r
}
