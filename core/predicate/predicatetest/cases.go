package predicatetest

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Case is one thing to hold two back ends against each other with: every predicate
// for every contact at Now.
type Case struct {
	Schema     predicate.Schema
	Subjects   []predicate.Subject
	Predicates []*predicate.Checked
}

// Cases draws cases of so many contacts and so many predicates. Few cases of many
// predicates cost a database less than the reverse.
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
