package predicatelint_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/predicatelint"
	"pgregory.net/rapid"
)

// TestFindingsAreTrue checks for random predicates and contacts that a finding is never
// wrong: no contact matches what is never true, and every contact what is always true.
func TestFindingsAreTrue(t *testing.T) {
	t.Parallel()
	kinds := map[predicate.WarningKind]int{}
	rapid.Check(t, func(t *rapid.T) { checkFindings(t, kinds) })
	if kinds[predicatelint.Never] == 0 || kinds[predicatelint.Always] == 0 {
		t.Errorf("the random predicates have the findings %v", kinds)
	}
}

// FuzzFindings checks the same for the inputs of the fuzzer.
func FuzzFindings(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkFindings(t, map[predicate.WarningKind]int{}) }))
}

// checkFindings joins random predicates of one schema, so that findings are frequent, and
// evaluates the claims about them for random contacts. It counts the claims by kind.
func checkFindings(t *rapid.T, kinds map[predicate.WarningKind]int) {
	c := predicatetest.Cases(12, 3).Draw(t, "case")
	sources := []string{c.Predicates[0].String()}
	for i, p := range c.Predicates {
		q := c.Predicates[(i+1)%len(c.Predicates)]
		a, b := "("+p.String()+")", "("+q.String()+")"
		sources = append(sources, a+" and "+b, a+" or not "+b, "not "+a+" and "+b, a+" and not "+a, a+" or not "+a)
	}
	for _, source := range sources {
		checked, err := predicate.Compile(source, c.Schema)
		if err != nil {
			continue // it exceeds a limit
		}
		claims, never, always := predicatelint.Claims(checked)
		for _, claim := range claims {
			kinds[claim.Kind]++
		}
		for _, s := range c.Subjects {
			truth := checked.Match(s, predicatetest.Now)
			if never && truth == predicate.True || always && truth != predicate.True {
				t.Fatalf("%s is %s for %+v; never %t, always %t", source, truth, s, never, always)
			}
			for _, claim := range claims {
				checkClaim(t, source, claim, s)
			}
		}
	}
}

// checkClaim checks a claim for one contact.
func checkClaim(t *rapid.T, source string, claim predicatelint.Claim, s predicate.Subject) {
	result := func(n predicate.Node) predicate.Truth {
		return (&predicate.Checked{Root: n}).Match(s, predicatetest.Now)
	}
	least, greatest := predicate.True, predicate.False
	for _, p := range claim.Parts {
		truth := p.Truth(result)
		least, greatest = min(least, truth), max(greatest, truth)
	}
	if claim.Kind == predicatelint.Never && least == predicate.True || claim.Kind == predicatelint.Always && greatest != predicate.True {
		t.Fatalf("in %s the parts %v are not %s for %+v", source, texts(claim.Parts), claim.Kind, s)
	}
}

func texts(parts []*predicate.Part) []string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return all
}
