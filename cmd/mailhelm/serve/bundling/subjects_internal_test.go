package bundling

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// countedSchemas counts how often names are read. The first read fails.
type countedSchemas int

func (c *countedSchemas) WorkflowSchema(context.Context, string) (language.Schema, error) {
	if *c++; *c == 1 {
		return language.Schema{}, errors.New("the database is away")
	}
	return language.Schema{Templates: map[string]bool{"welcome": true}}, nil
}

// TestNamesAreReadOnce reads the names of an organization three times.
func TestNamesAreReadOnce(t *testing.T) {
	t.Parallel()
	var reads countedSchemas
	once := &schemaOnce{Schemas: &reads}
	if _, err := once.WorkflowSchema(t.Context(), "org"); err == nil {
		t.Error("no error")
	}
	for range 2 {
		if schema, err := once.WorkflowSchema(t.Context(), "org"); err != nil || !schema.Templates["welcome"] {
			t.Errorf("%v, %v", schema, err)
		}
	}
	if reads != 2 {
		t.Errorf("%d reads", reads)
	}
}
