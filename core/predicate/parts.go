package predicate

// Part is a part of a predicate in plain words: a test, or several parts of which all or
// one must be true. There is no part for "not": the words and the result of a test include
// the negations around it, and a negated "and" is an Any of negated parts.
type Part struct {
	Kind PartKind
	// Text is what the part says about one contact, such as `plan is "pro"`. For a Test,
	// names and texts of the predicate are quoted and escaped for display. For All and Any
	// it says how many of the parts below must be true.
	Text string
	// Parts has the parts of an All or Any, at least two. It is nil for a Test.
	Parts []*Part
	// Test is the node of a Test, without the negations around it. Negated is true if the
	// part says the opposite of the node.
	Test    Node
	Negated bool
	// At is the offset in the predicate's text at which the part begins.
	At Offset
}

// PartKind is the kind of a [Part].
type PartKind string

// The kinds of parts.
const (
	All  PartKind = "all"
	Any  PartKind = "any"
	Test PartKind = "test"
)

// Parts returns the predicate as a tree of parts in plain words. Its tests are the tests of
// the predicate, in the order of its text, without those inside of a where-condition.
func (c *Checked) Parts() *Part { return partOf(c.Root, false) }

// PartsOf returns a node of a Checked as a tree of parts, such as a where-condition. In the
// parts of a where-condition, each part says something about one event.
func PartsOf(n Node) *Part { return partOf(n, false) }

// partOf returns the part that says the same as n or, if negated is set, as "not n". It
// moves negations into the tests, which does not change any result: "not" turns the least
// result of the terms into the greatest negated one.
func partOf(n Node, negated bool) *Part {
	switch n := n.(type) {
	case *Not:
		return partOf(n.Term, !negated)
	case *And:
		return partOfTerms(n, n.Terms, !negated, negated)
	case *Or:
		return partOfTerms(n, n.Terms, negated, negated)
	}
	return &Part{Kind: Test, Text: testPhrase(n, negated).statement(), Test: n, Negated: negated, At: n.Pos()}
}

func partOfTerms(n Node, terms []Node, all, negated bool) *Part {
	p := &Part{Kind: Any, Text: "at least one of these is true", At: n.Pos()}
	if all {
		p.Kind, p.Text = All, "all of these are true"
	}
	for _, term := range terms {
		p.Parts = append(p.Parts, partOf(term, negated))
	}
	return p
}

// Tests returns the tests of the part and of the parts below it, in their order.
func (p *Part) Tests() []*Part {
	if p.Kind == Test {
		return []*Part{p}
	}
	var tests []*Part
	for _, part := range p.Parts {
		tests = append(tests, part.Tests()...)
	}
	return tests
}

// Truth returns the result of the part. result returns the result of a node of the field
// Test, without the negation; Truth negates it if the part is negated.
func (p *Part) Truth(result func(test Node) Truth) Truth {
	switch p.Kind {
	case All:
		least := True
		for _, part := range p.Parts {
			least = min(least, part.Truth(result))
		}
		return least
	case Any:
		greatest := False
		for _, part := range p.Parts {
			greatest = max(greatest, part.Truth(result))
		}
		return greatest
	}
	if p.Negated {
		return result(p.Test).Not()
	}
	return result(p.Test)
}
