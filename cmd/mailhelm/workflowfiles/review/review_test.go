package review_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/review"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func TestSource(t *testing.T) {
	t.Parallel()
	const start = "workflow \"W\" v1 {\n enter on activity.signup\n "
	schema := &language.Schema{Templates: map[string]bool{"welcome": true}}
	for _, row := range []struct {
		source           string
		schema           *language.Schema
		faults, warnings int
		tree             bool
	}{
		{start + "sned \"x\"\n wait 0 days\n}", nil, 2, 0, false},
		{start + "send \"x\"\n}", nil, 0, 0, true},
		{start + "send \"x\"\n}", schema, 1, 0, true},
		{start + "send \"welcome\"\n exit\n exit\n}", schema, 0, 1, true},
		{start + "send \"x\"\n exit\n exit\n}", nil, 0, 1, true},
		{start + "set attr.email = \"x\"\n}", nil, 1, 0, true},
	} {
		r := review.Source(row.source, row.schema)
		if len(r.Faults) != row.faults || len(r.Warnings) != row.warnings || (r.Tree != nil) != row.tree || r.Valid() != (row.faults == 0) {
			t.Errorf("%s\ngives %+v, want %+v", row.source, r, row)
		}
	}
}
