package demodata

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// TestWorkflowsAreCanonical checks the spelling of the demo's workflows. Their names are checked
// when the demo creates them.
func TestWorkflowsAreCanonical(t *testing.T) {
	t.Parallel()
	for _, d := range demoWorkflows {
		if formatted, err := language.Format(d.source); err != nil || formatted != d.source {
			t.Errorf("%s: %v, want\n%s", d.key, err, formatted)
		}
	}
}
