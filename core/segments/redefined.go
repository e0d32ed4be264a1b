package segments

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Redefinition is a deletion of lists or topics that predicates may test, or a change of
// the default subscription of topics.
type Redefinition struct {
	// GoneLists has the ids of deleted lists.
	GoneLists []string
	// GoneTopics has the names of deleted topics. TurnedTopics has the names of topics whose
	// default subscription changed.
	GoneTopics, TurnedTopics []string
}

// ApplyRedefinition updates the segments that test a changed list or topic. Call it in the
// transaction of the change, before the change. A segment that no longer compiles becomes
// invalid with a warning, so that a job does not evaluate it without the list or topic. A
// job soon evaluates again the updated segments that still compile.
func (s *Segments) ApplyRedefinition(ctx context.Context, orgID string, what Redefinition) error {
	_, err := s.applyEdit(ctx, orgID, what, false)
	return err
}

// PreviewRedefinition returns the segments that would no longer compile after the change,
// without changing them.
func (s *Segments) PreviewRedefinition(ctx context.Context, orgID string, what Redefinition) ([]Affected, error) {
	return s.applyEdit(ctx, orgID, what, true)
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

// brokenWarning returns the warning for a segment that no longer compiles after a list or
// topic was deleted. The warning remains if a list or topic of the same name is created
// later, because it has other members or choices.
func (r Redefinition) brokenWarning(fault error) string { return lost + firstFault(fault) }

func (r Redefinition) loses() bool { return false }

func (r Redefinition) names(predicate.References) bool { return false }

// meaning returns no warning, and true: all contacts have to be evaluated again.
func (r Redefinition) meaning(*predicate.Checked) (string, bool) { return "", true }
