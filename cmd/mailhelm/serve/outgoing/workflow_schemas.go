package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// WorkflowSchemas reads the names that workflows may use; it is a [workflows.Schemas].
type WorkflowSchemas struct {
	Segments  segments.Store
	Templates templates.Store
}

// WorkflowSchema returns the names of one organization.
func (s WorkflowSchemas) WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error) {
	names, err := s.Segments.PredicateSchema(ctx, orgID)
	if err != nil {
		return language.Schema{}, err
	}
	schema := language.Schema{Schema: names.Schema, Templates: map[string]bool{}}
	if schema.Activities, err = s.Segments.SeenActivities(ctx, orgID); err != nil {
		return language.Schema{}, err
	}
	named, err := s.Templates.Slugs(ctx, orgID)
	for _, t := range named {
		schema.Templates[t.Slug] = t.Sendable
	}
	return schema, err
}

// PredicateSchema returns the names that predicates may use, with the columns of attributes.
func (s WorkflowSchemas) PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error) {
	return s.Segments.PredicateSchema(ctx, orgID)
}
