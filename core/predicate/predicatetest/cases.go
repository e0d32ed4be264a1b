package predicatetest

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Case is a random test case. The back ends that evaluate predicates must have the same
// result for every predicate and every contact at the time Now.
type Case struct {
	Schema     predicate.Schema
	Subjects   []predicate.Subject
	Predicates []*predicate.Checked
}

// Cases returns a generator of cases with the given numbers of contacts and predicates. On
// a database, few cases with many predicates are faster than many cases with few.
func Cases(subjects, predicates int) *rapid.Generator[Case] {
	return rapid.Custom(func(t *rapid.T) Case {
		c := Case{Schema: Schemas().Draw(t, "schema")}
		c.Subjects = Subjects(c.Schema, subjects).Draw(t, "subjects")
		for range predicates {
			source := Predicates(c.Schema).Draw(t, "predicate")
			checked, err := predicate.Compile(source, c.Schema)
			if err != nil {
				t.Fatal(fmt.Errorf("a predicate was drawn that does not compile: %q: %w", source, err))
			}
			c.Predicates = append(c.Predicates, checked)
		}
		return c
	})
}
