package language_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// TestLimits checks that a source at a limit is accepted, and one beyond it is refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		return strings.Repeat("if suppressed {\n", levels-1) + "exit\n" + strings.Repeat("}\n", levels-1)
	}
	exits := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("exit \"" + strings.Repeat("x", i+1) + "\" when suppressed\n")
		}
		return b.String() + "exit"
	}
	fill := language.MaxSource - len(workflow("exit"))
	for _, row := range []struct {
		limit        predicate.Limit
		fits, beyond string
	}{
		{language.LimitSteps, strings.Repeat("exit\n", 200), strings.Repeat("exit\n", 201)},
		{language.LimitDepth, nested(10), nested(11)},
		{language.LimitExits, exits(20), exits(21)},
		{language.LimitRepeat, "repeat up to 100 every 1 day { exit }", "repeat up to 101 every 1 day { exit }"},
		{language.LimitSource, "exit" + strings.Repeat(" ", fill), "exit" + strings.Repeat(" ", fill+1)},
		{predicate.LimitDepth, "if " + strings.Repeat("not ", 19) + "suppressed { exit }", "if " + strings.Repeat("not ", 20) + "suppressed { exit }"},
	} {
		if _, err := language.Parse(workflow(row.fits)); err != nil {
			t.Errorf("%s: what fits is refused: %v", row.limit, err)
		}
		_, err := language.Parse(workflow(row.beyond))
		faults, is := errors.AsType[predicate.Errors](err)
		if !is || faults[0].Limit != row.limit {
			t.Errorf("%s: one beyond the limit gives %v", row.limit, err)
		}
	}
}

// TestHostileSources checks that sources that are made to use up the stack, the memory or the
// time are refused, with few and short faults.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"{", "}", "{}", "if suppressed {", "else {", "else if suppressed {", "split {", "split { 50%: {", "wait up to 1 day until suppressed { timeout: ",
		"repeat up to 1 every 1 day {", "\"", "\n", "\nexit ", "\nsend ", "\nexit \"a\" ", "(", "\xff", "\x00", "9am", "#", "# \n", "50%:",
	} {
		for _, around := range []string{"", `workflow "W" v1 {`, "workflow \"W\" v1 { enter on activity.x\n", "workflow \"W\" v1 { enter on activity.x\nif "} {
			source := around + strings.Repeat(part, (language.MaxSource-len(around))/len(part))
			_, err := language.Parse(source)
			faults, is := errors.AsType[predicate.Errors](err)
			if !is || len(faults) == 0 || len(faults) > predicate.MaxFaults || len(err.Error()) > 10_000 {
				t.Errorf("%.60q... gives %d faults, %.200v", source, len(faults), err)
			}
		}
	}
}
