package predicate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"pgregory.net/rapid"
)

// TestBooleanOperatorsFollowThreeValuedLogic checks for random predicates and contacts
// that "and", "or" and "not" follow three-valued logic.
func TestBooleanOperatorsFollowThreeValuedLogic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(5, 2).Draw(t, "case")
		p, q := c.Predicates[0], c.Predicates[1]
		of := func(source string) *predicate.Checked {
			checked, err := predicate.Compile(source, c.Schema)
			if err != nil {
				t.Fatal(err)
			}
			return checked
		}
		a, b := "("+p.String()+")", "("+q.String()+")"
		if _, err := predicate.Parse(a + " and " + b); err != nil {
			return // both together exceed a limit
		}
		both, either := of(a+" and "+b), of(a+" or "+b)
		neither, notNot := of("not ("+a+" or "+b+")"), of("not not "+a)
		for _, s := range c.Subjects {
			x, y := p.Match(s, predicatetest.Now), q.Match(s, predicatetest.Now)
			for name, law := range map[string]struct{ got, want predicate.Truth }{
				"and":     {both.Match(s, predicatetest.Now), min(x, y)},
				"or":      {either.Match(s, predicatetest.Now), max(x, y)},
				"neither": {neither.Match(s, predicatetest.Now), -max(x, y)},
				"not not": {notNot.Match(s, predicatetest.Now), x},
			} {
				if law.got != law.want {
					t.Fatalf("%s of %s (%s) and %s (%s) is %s", name, a, x, b, y, law.got)
				}
			}
		}
	})
}

// TestResultDependsOnReferencesOnly checks that the result of a predicate depends only on
// the parts of a contact that [predicate.References] names.
func TestResultDependsOnReferencesOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(5, 3).Draw(t, "case")
		for _, p := range c.Predicates {
			r := p.References()
			for _, s := range c.Subjects {
				if whole, part := p.Match(s, predicatetest.Now), p.Match(keepOnly(s, r), predicatetest.Now); whole != part {
					t.Fatalf("%s is %s, and %s with what it refers to alone: %+v", p, whole, part, r)
				}
			}
		}
	})
}

// TestUnionIsTheReferencesOfAllTogether checks that the union of the references of two
// predicates is the references of their conjunction.
func TestUnionIsTheReferencesOfAllTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(1, 2).Draw(t, "case")
		both, err := predicate.Compile("("+c.Predicates[0].String()+") and ("+c.Predicates[1].String()+")", c.Schema)
		if err != nil {
			return // both together exceed a limit
		}
		got := predicate.Union(c.Predicates[0].References(), c.Predicates[1].References())
		if diff := cmp.Diff(both.References(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", both, diff)
		}
	})
}

// keepOnly returns a copy of the contact s with only those parts that the references r
// include.
func keepOnly(s predicate.Subject, r predicate.References) predicate.Subject {
	part := predicate.Subject{Attributes: map[string]predicate.Value{}, Topics: map[string]bool{}, Lists: map[string]bool{}, Segments: map[string]bool{}}
	for _, name := range r.Attributes {
		if v, ok := s.Attributes[name]; ok {
			part.Attributes[name] = v
		}
	}
	if r.Email {
		part.Email = s.Email
	}
	for _, topic := range r.Topics {
		if in, ok := s.Topics[topic]; ok {
			part.Topics[topic] = in
		}
	}
	part.UnsubscribedFromAll, part.Stub = r.Consent && s.UnsubscribedFromAll, r.Consent && s.Stub
	part.Suppressed = r.Suppression && s.Suppressed
	for _, id := range r.Lists {
		part.Lists[id] = s.Lists[id]
	}
	for _, id := range r.Segments {
		part.Segments[id] = s.Segments[id]
	}
	for _, o := range s.Events {
		for _, event := range r.Events {
			if o.Event == event {
				part.Events = append(part.Events, o)
			}
		}
	}
	return part
}

// TestIncrementalPredicatesDoNotDependOnTime checks that the result of a predicate of the
// class Incremental does not change as time passes.
func TestIncrementalPredicatesDoNotDependOnTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(5, 3).Draw(t, "case")
		later := predicatetest.Now.AddDate(2, 1, 3)
		for _, p := range c.Predicates {
			for _, s := range c.Subjects {
				if p.EvalClass() == predicate.Incremental && p.Match(s, predicatetest.Now) != p.Match(s, later) {
					t.Fatalf("%s is incremental and changes with time", p)
				}
			}
		}
	})
}
