package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Redefinition is a change of what predicates test, other than of attributes and
// properties.
type Redefinition struct {
	// GoneLists are ids of lists that are deleted.
	GoneLists []string
	// GoneTopics are names of topics that are deleted, and TurnedTopics of those that
	// get another default.
	GoneTopics, TurnedTopics []string
}

// Redefined lets segments follow a change of what they test. One that no longer
// compiles is invalid with a warning in the same transaction, before anybody can judge
// contacts by a list that is not there; the others that name it are judged anew soon
// after. It is called before the change, in its transaction.
func (s *Segments) Redefined(ctx context.Context, orgID string, what Redefinition) error {
	_, err := s.edited(ctx, orgID, what, false)
	return err
}

func (r Redefinition) isNamed(by predicate.References) bool {
	return sharesAny(by.Lists, r.GoneLists) || sharesAny(by.Topics, r.GoneTopics) || sharesAny(by.Topics, r.TurnedTopics)
}

func sharesAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func (r Redefinition) applied(schema predicate.Schema) predicate.Schema {
	schema.Lists, schema.Topics = maps.Clone(schema.Lists), maps.Clone(schema.Topics)
	maps.DeleteFunc(schema.Lists, func(_, id string) bool { return slices.Contains(r.GoneLists, id) })
	for _, name := range r.GoneTopics {
		delete(schema.Topics, name)
	}
	return schema
}

// broken: what is made under the name later has other members, or other choices.
func (r Redefinition) broken(fault error) string { return lost + firstFault(fault) }

func (r Redefinition) loses() bool { return false }

func (r Redefinition) names(predicate.References) bool { return false }

// meaning is that contacts are judged anew, about which there is nothing to warn of.
func (r Redefinition) meaning(*predicate.Checked) (string, bool) { return "", true }
