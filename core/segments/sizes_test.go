package segments_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
)

// TestSizesByDay checks the size of a segment on days with changes, without an evaluation,
// and before its first evaluation.
func TestSizesByDay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		author := segments.Author{Store: w.db.Segments(), Members: w.db.SegmentMembers(), Clock: w.clock}
		s := w.save(t, "big", `attr.mrr > 5`)
		want := func(org string, days int, want string) {
			t.Helper()
			sizes, err := author.Sizes(t.Context(), org, s.ID, days)
			must(t, err)
			got := ""
			for _, size := range sizes {
				got += fmt.Sprintf("%s %d, ", size.Day.Format("Jan 2"), size.Members)
			}
			if got != want {
				t.Errorf("the last %d days: %q, want %q", days, got, want)
			}
		}
		want(w.org, 30, "")
		w.follow(t)
		want(w.org, 30, "Mar 1 0, ")
		for i, mrr := range []int{10, 10, 10, 1} {
			w.put(t, fmt.Sprintf("contact%d", i%3), map[string]any{"mrr": float64(mrr)})
			w.follow(t)
			w.advance(24 * time.Hour)
		}
		w.advance(24 * time.Hour)
		want(w.org, 30, "Mar 1 1, Mar 2 2, Mar 3 3, Mar 4 2, Mar 5 2, Mar 6 2, ")
		want(w.org, 3, "Mar 4 2, Mar 5 2, Mar 6 2, ")
		want(w.org, 1, "Mar 6 2, ")
		want(core.NewID(), 30, "")
		// a later evaluation of all contacts deletes old sizes
		must(t, w.Members.SetEvaluatedAt(t.Context(), w.org, s.ID, w.clock().AddDate(0, 0, 400)))
		stored, err := w.Members.SegmentSizes(t.Context(), w.org, s.ID, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		must(t, err)
		if len(stored) != 1 {
			t.Errorf("%d sizes are left: %+v", len(stored), stored)
		}
	})
}
