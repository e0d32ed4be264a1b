package predicate_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestGoldenConditions compares the conditions of checked predicates with a golden file. The
// words of the tree follow where they differ, because the tree lacks types and defaults.
func TestGoldenConditions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range spoken {
		checked := compile(t, source)
		fmt.Fprintf(&b, "%s\n    if %s\n", source, checked.Condition())
		if assumed := checked.Tree().Condition(); assumed != checked.Condition() {
			fmt.Fprintf(&b, "    tree: if %s\n", assumed)
		}
	}
	compareGolden(t, "conditions.golden", b.String())
}
