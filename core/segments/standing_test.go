package segments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
)

// TestStandingsOfOneContact checks the pages of segments, which begin with those that the
// contact is in, and that a segment that cannot be explained has no reasons.
func TestStandingsOfOneContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		w.save(t, "b-free", `attr.plan = "free"`)
		w.save(t, "z-pro", `attr.plan = "pro"`)
		w.save(t, "a-free", `not attr.plan = "pro"`)
		w.follow(t)
		lines := func(org, contact string, from, limit int) []string {
			page, total, err := segments.NewStandings(w.Segments).StandingsOf(t.Context(), org, contact, from, limit)
			must(t, err)
			var all []string
			for _, s := range page {
				line := fmt.Sprintf("%s %v", s.Segment.Key, s.Since != nil)
				if s.Why != nil {
					line += " " + strings.Join(findingLines(*s.Why), ", ")
				}
				all = append(all, line)
			}
			return append(all, fmt.Sprint(total))
		}
		ann := w.contacts["ann"].ID
		all := []string{`z-pro true true: plan is "pro" ["pro"]`, `a-free false false: plan is not "pro" ["pro"]`, `b-free false false: plan is "free" ["pro"]`, "3"}
		for _, c := range []struct {
			org, contact string
			from, limit  int
			want         []string
		}{
			{w.org, ann, 0, 10, all},
			{w.org, ann, 1, 1, []string{all[1], "3"}},
			{w.org, ann, 5, 1, []string{"3"}},
			{w.org, core.NewID(), 0, 1, []string{"a-free false", "3"}},
			{core.NewID(), ann, 0, 10, []string{"0"}},
		} {
			if diff := cmp.Diff(c.want, lines(c.org, c.contact, c.from, c.limit)); diff != "" {
				t.Errorf("from %d: %s", c.from, diff)
			}
		}
	})
}
