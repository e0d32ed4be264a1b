package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Redefinition is a change of lists or topics that predicates may test.
type Redefinition struct {
	// GoneLists are ids of deleted lists.
	GoneLists []string
	// GoneTopics are the names of deleted topics. TurnedTopics are the names of topics with
	// a new default.
	GoneTopics, TurnedTopics []string
}

// ApplyRedefinition updates the segments that test a changed list or topic. It must be
// called before the change, in its transaction. A segment that no longer compiles becomes
// invalid with a warning in the same transaction, before a job can evaluate it without the
// list. The others are evaluated again soon after.
func (s *Segments) ApplyRedefinition(ctx context.Context, orgID string, what Redefinition) error {
	_, err := s.applyEdit(ctx, orgID, what, false)
	return err
}

func (r Redefinition) isNamed(by predicate.References) bool {
	return sharesAny(by.Lists, r.GoneLists) || sharesAny(by.Topics, r.GoneTopics) || sharesAny(by.Topics, r.TurnedTopics)
}

func sharesAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func (r Redefinition) applyTo(schema predicate.Schema) predicate.Schema {
	schema.Lists, schema.Topics = maps.Clone(schema.Lists), maps.Clone(schema.Topics)
	maps.DeleteFunc(schema.Lists, func(_, id string) bool { return slices.Contains(r.GoneLists, id) })
	for _, name := range r.GoneTopics {
		delete(schema.Topics, name)
	}
	return schema
}

// brokenWarning returns the warning. It does not go away when a list or topic of the same
// name is created later, because that has other members or choices.
func (r Redefinition) brokenWarning(fault error) string { return lost + firstFault(fault) }

func (r Redefinition) loses() bool { return false }

func (r Redefinition) names(predicate.References) bool { return false }

// meaning returns no warning: the segment only has to be evaluated again.
func (r Redefinition) meaning(*predicate.Checked) (string, bool) { return "", true }
