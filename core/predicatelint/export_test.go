package predicatelint

import "github.com/mailhelm/mailhelm/core/predicate"

// Claim is a finding about parts outside of where-conditions: no contact matches all of the
// parts, or every contact matches one of them.
type Claim struct {
	Kind  predicate.WarningKind
	Parts []*predicate.Part
}

// Claims returns the claims about a predicate, and whether it is certain that no contact
// matches the predicate, or that every contact does.
func Claims(c *predicate.Checked) (claims []Claim, never, always bool) {
	l := linter{prover: newProver(), tree: c.Tree(), noun: "contact"}
	root := c.Parts()
	l.checkPart(root, nil)
	for _, f := range l.findings {
		if f.kind != Repeated {
			claims = append(claims, Claim{f.kind, f.parts})
		}
	}
	return claims, l.unsatisfiable(nil, root, true), l.unsatisfiable(nil, root, false)
}

// MaxSteps is the maximum number of steps for one predicate.
const MaxSteps = maxSteps

// StepsOf returns the number of steps that the contradictions of a predicate take.
func StepsOf(c *predicate.Checked, f Facts) int {
	l := linter{prover: newProver(), tree: c.Tree(), facts: f, noun: "contact"}
	l.findAll(c.Parts())
	return maxSteps - l.steps
}
