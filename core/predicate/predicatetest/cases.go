package predicatetest

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Case is a test case for two back ends that must agree: every predicate for every
// contact at Now.
type Case struct {
	Schema     predicate.Schema
	Subjects   []predicate.Subject
	Predicates []*predicate.Checked
}

// Cases draws cases with the given numbers of contacts and predicates. Few cases with
// many predicates are faster on a database than the reverse.
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
