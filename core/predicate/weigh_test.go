package predicate_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

func TestWeigh(t *testing.T) {
	t.Parallel()
	terms := func(n int, term, by string) string { return strings.TrimSuffix(strings.Repeat(term+by, n), by) }
	schema := predicate.Schema{
		Attributes: map[string]predicate.AttributeType{"plan": {Type: predicate.String}},
		Properties: map[predicate.ActivityProperty]predicate.Type{{Activity: "order", Property: "note"}: predicate.String},
	}
	for source, want := range map[string]struct {
		contact int
		steps   []int
	}{
		`attr.plan = "pro"`:                                               {1, nil},
		`attr.plan = "pro" and attr.plan contains "p"`:                    {5, nil},
		`count(open within 7d) >= 1`:                                      {1, []int{1}},
		`exists(open) or count(open) > 2 or exists(click)`:                {3, []int{2, 1}},
		`count(open within 7d) > 1 or count(open) > 10`:                   {2, []int{1, 1}},
		`count(activity.order where note contains "a" or note = "b") > 1`: {1, []int{6}},
		// An expensive predicate: eight event counts with 22 text searches each.
		terms(8, `count(activity.order where `+terms(22, `note contains "a"`, " or ")+` within 3650d) > 1`, " or "): {8, []int{8 * 89}},
	} {
		checked, err := predicate.Compile(source, schema)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		w := checked.Weigh()
		var steps []int
		for _, s := range w.Sources {
			steps = append(steps, s.Steps)
		}
		if w.Contact != want.contact || len(steps) != len(want.steps) {
			t.Errorf("%s weighs %d, %v", source, w.Contact, steps)
			continue
		}
		for i := range steps {
			if steps[i] != want.steps[i] {
				t.Errorf("%s weighs %d, %v", source, w.Contact, steps)
			}
		}
	}
}
