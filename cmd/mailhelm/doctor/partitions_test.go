package doctor

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/partitions"
)

// TestPartitionsAreJudged checks what doctor says about each state of a divided table.
func TestPartitionsAreJudged(t *testing.T) {
	t.Parallel()
	fine := partitions.State{Divided: true, Months: 3, Rest: 12}
	if detail, next := judgePartitions(fine); detail != "" || next != "" {
		t.Errorf("%s, %s", detail, next)
	}
	for want, state := range map[string]partitions.State{
		"is not divided":        {},
		"is being divided":      {Moving: true},
		"lacks partitions":      {Divided: true, Missing: []string{"x_203101"}},
		"detached partitions":   {Divided: true, Loose: []string{"x_203101"}},
		"its default partition": {Divided: true, Rest: partitions.ManyRest},
	} {
		if detail, next := judgePartitions(state); !strings.Contains(detail, want) || next == "" {
			t.Errorf("%s: %q, %q", want, detail, next)
		}
	}
}
