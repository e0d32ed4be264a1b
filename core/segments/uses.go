package segments

import (
	"context"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Use is a segment with the names that its predicate tests.
type Use struct {
	ID, Name   string
	References predicate.References
}

// Uses returns the active segments of an organization with the attributes, properties,
// lists and topics that their predicates test, in the order of creation. It omits segments
// whose predicate does not compile, because their references are unknown. It compiles all
// predicates.
func (s *Segments) Uses(ctx context.Context, orgID string) ([]Use, error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.AllSegments(ctx, orgID)
	if err != nil {
		return nil, err
	}
	var uses []Use
	for _, segment := range all {
		if segment.Status == Archived {
			continue
		}
		if checked, err := predicate.Compile(segment.Source, schema.Schema); err == nil {
			uses = append(uses, Use{segment.ID, segment.Name, checked.References()})
		}
	}
	return uses, nil
}
