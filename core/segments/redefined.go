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
}

// Redefined lets segments follow a change of what they test. One that no longer
// compiles is invalid with a warning in the same transaction, before anybody can judge
// contacts by a list that is not there. It is called before the change, in its
// transaction.
func (s *Segments) Redefined(ctx context.Context, orgID string, what Redefinition) error {
	_, err := s.edited(ctx, orgID, what, false)
	return err
}

func (r Redefinition) isNamed(by predicate.References) bool {
	return slices.ContainsFunc(r.GoneLists, func(id string) bool { return slices.Contains(by.Lists, id) })
}

func (r Redefinition) applied(schema predicate.Schema) predicate.Schema {
	schema.Lists = maps.Clone(schema.Lists)
	maps.DeleteFunc(schema.Lists, func(_, id string) bool { return slices.Contains(r.GoneLists, id) })
	return schema
}

func (r Redefinition) meaning(*predicate.Checked) string { return "" }
