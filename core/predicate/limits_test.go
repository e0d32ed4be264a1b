package predicate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
)

func repeat(n int, what, by string) string {
	return strings.TrimSuffix(strings.Repeat(what+by, n), by)
}

// TestLimits checks for each limit that a predicate at the limit is accepted. A predicate
// above the limit must fail with the name of the limit.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		limit        predicate.Limit
		fits, beyond string
	}{
		{predicate.LimitNodes, repeat(199, "suppressed", " and "), repeat(200, "suppressed", " and ")},
		{predicate.LimitNodes, "exists(open where " + repeat(198, `url = "a"`, " or ") + ")", "exists(open where " + repeat(199, `url = "a"`, " or ") + ")"},
		{predicate.LimitDepth, strings.Repeat("not ", 19) + "suppressed", strings.Repeat("not ", 20) + "suppressed"},
		{predicate.LimitDepth, strings.Repeat("(", 19) + "suppressed" + strings.Repeat(")", 19), strings.Repeat("(", 20) + "suppressed" + strings.Repeat(")", 20)},
		{predicate.LimitDepth, strings.Repeat("(", 18) + "exists(open where a = 1)" + strings.Repeat(")", 18), strings.Repeat("(", 19) + "exists(open where a = 1)" + strings.Repeat(")", 19)},
		{predicate.LimitListItems, "attr.x in [" + repeat(100, "1", ",") + "]", "attr.x in [" + repeat(101, "1", ",") + "]"},
		{predicate.LimitEventTerms, repeat(8, "exists(open)", " or "), repeat(9, "exists(open)", " or ")},
		{predicate.LimitMembership, repeat(4, `in list "a" or in segment "b"`, " or "), repeat(9, `in list "a"`, " or ")},
		{predicate.LimitSource, "suppressed" + strings.Repeat(" ", predicate.MaxSource-10), "suppressed" + strings.Repeat(" ", predicate.MaxSource-9)},
	} {
		if _, err := predicate.Parse(row.fits); err != nil {
			t.Errorf("%s: what fits is refused: %v", row.limit, err)
		}
		_, err := predicate.Parse(row.beyond)
		fault, is := errors.AsType[*predicate.Error](err)
		if !is || fault.Limit != row.limit {
			t.Errorf("%s: one beyond the limit gives %v", row.limit, err)
		}
	}
}

// TestHostileSources checks that Parse refuses texts that are made to use up the stack, the
// memory or the time.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"(", "not ", "not(", "exists(open where ", "[", "attr.", `"`, `\`, "1", "1e", "-", "now-", "#", "\x00", "\xff", "é", "attr.x in [", "a.", "2026-", `activity."`} {
		source := strings.Repeat(part, predicate.MaxSource/len(part))
		for _, text := range []string{source, "attr.x = " + source, "exists(" + source} {
			if _, err := predicate.Parse(text); err == nil && part != "#" {
				t.Errorf("%.20q... was read", text)
			} else if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%.20q... gives an error of %d bytes", text, len(err.Error()))
			}
		}
	}
}
