package predicatetest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
)

// TestCasesReachEveryOutcome checks that random cases are varied. Tests of each form must
// be True for some contacts, False for some, and Unknown for some where that is possible.
// The seeds are fixed, because a rare outcome does not come in every hundred cases.
func TestCasesReachEveryOutcome(t *testing.T) {
	t.Parallel()
	seen := map[string]map[predicate.Truth]int{}
	cases := predicatetest.Cases(10, 20)
	for seed := range 200 {
		c := cases.Example(seed)
		for _, p := range c.Predicates {
			form := formOf(p.Root)
			if seen[form] == nil {
				seen[form] = map[predicate.Truth]int{}
			}
			for _, s := range c.Subjects {
				seen[form][p.Match(s, predicatetest.Now)]++
			}
		}
	}
	neverUnknown := map[string]bool{"known": true, "count": true, "exists": true, "consent": true, "membership": true}
	for _, form := range []string{"and", "or", "not", "compare", "in", "match", "known", "age", "count", "exists", "sum", "avg", "min", "max", "last", "first", "consent", "membership"} {
		counts := seen[form]
		if counts[predicate.True] == 0 || counts[predicate.False] == 0 || neverUnknown[form] != (counts[predicate.Unknown] == 0) {
			t.Errorf("%s came out %v", form, counts)
		}
	}
}

func formOf(n predicate.Node) string {
	switch n := n.(type) {
	case *predicate.And:
		return "and"
	case *predicate.Or:
		return "or"
	case *predicate.Not:
		return "not"
	case *predicate.Compare:
		return "compare"
	case *predicate.In:
		return "in"
	case *predicate.Match:
		return "match"
	case *predicate.Known:
		return "known"
	case *predicate.Age:
		return "age"
	case *predicate.EventTest:
		return n.Kind.String()
	case *predicate.Consent:
		return "consent"
	case *predicate.Membership:
		return "membership"
	}
	return "no form"
}
