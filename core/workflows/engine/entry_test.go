package engine_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

func TestAdmitsAndLeaves(t *testing.T) {
	t.Parallel()
	const trigger = "workflow \"W\" v1 {\nenter on activity.signup"
	for name, c := range map[string]struct {
		source         string
		visits         float64
		admits, leaves bool
	}{
		"no conditions":         {trigger + "\nexit\n}", 0, true, false},
		"where, not met":        {trigger + " where attr.visits > 2\nexit\n}", 2, false, false},
		"where, met":            {trigger + " where attr.visits > 2\nexit\n}", 3, true, false},
		"where, unknown":        {trigger + " where attr.plan = \"pro\"\nexit\n}", 0, false, false},
		"exits, none met":       {trigger + "\nexit \"a\" when attr.visits > 2\nexit \"b\" when attr.visits = 2\nexit\n}", 1, true, false},
		"exits, the second met": {trigger + "\nexit \"a\" when attr.visits > 2\nexit \"b\" when attr.visits = 2\nexit\n}", 2, true, true},
		"exits, unknown":        {trigger + "\nexit \"a\" when not attr.plan = \"pro\"\nexit\n}", 0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := compileSource(t, c.source)
			subject := predicate.Subject{Attributes: map[string]predicate.Value{"visits": predicate.NumberValue(c.visits)}}
			if admits, leaves := plan.Admits(subject, noon), plan.Leaves(subject, noon); admits != c.admits || leaves != c.leaves {
				t.Errorf("Admits %t, Leaves %t; want %t, %t", admits, leaves, c.admits, c.leaves)
			}
		})
	}
}
