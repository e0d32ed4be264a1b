package segments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// TestTheLongestPredicatesAreAnswered checks that the longest predicates that the language
// allows are evaluated within the time limit. The database's planning time must not grow
// too much with the number of conditions in a predicate.
func TestTheLongestPredicatesAreAnswered(t *testing.T) {
	t.Parallel()
	const subjects, people, suppressed = 50, 60, 20
	each(t, func(t *testing.T, w *world) {
		var all []sending.Topic
		for i := range subjects {
			all = append(all, sending.Topic{Name: fmt.Sprintf("t%02d", i), Default: []sending.Subscription{sending.OptIn, sending.OptOut}[i%2]})
		}
		w.topics(t, segments.Redefinition{GoneTopics: []string{"news"}}, all...)
		w.list(t, "vips", "c00")
		for i := range people {
			must(t, w.write(t.Context(), fmt.Sprintf("c%02d", i), func(c *contacts.Contact) {
				c.Attributes = map[string]any{"mrr": float64(i)}
				if i == 1 { // only c01 chooses topics; all others follow the defaults
					for _, topic := range all {
						c.TopicPreferences = append(c.TopicPreferences, topics.Preference{Topic: topic.Name, SubscriptionStatus: sending.OptIn})
					}
				}
			}))
		}
		var keys []string
		for i := range suppressed {
			keys = append(keys, fmt.Sprintf("c%02d@example.com", i))
		}
		must(t, w.Changes.ReplaceSuppressed(t.Context(), w.org, keys))

		subscribed := func(i int) string { return fmt.Sprintf(`subscribed to "t%02d"`, i%subjects) }
		opted := func(i int) string { return fmt.Sprintf(`opted out of "t%02d"`, i%subjects) }
		same := func(term string) func(int) string { return func(int) string { return term } }
		for _, tc := range []struct {
			n     int
			by    string
			term  func(int) string
			count int
		}{
			{199, " and ", same("suppressed"), suppressed},
			{199, " or ", same("suppressed"), suppressed},
			{99, " and ", same("not suppressed"), people - suppressed},
			{66, " and ", func(i int) string { return fmt.Sprintf("(suppressed and attr.mrr != %d)", 1000+i) }, suppressed},
			{66, " and ", func(i int) string { return fmt.Sprintf("(suppressed or attr.mrr = %d)", i) }, suppressed},
			{199, " and ", subscribed, 1},
			{199, " or ", subscribed, people},
			{99, " and ", func(i int) string { return "not " + opted(i) }, 1},
			{199, " and ", opted, 0},
			{199, " or ", opted, people - 1},
			{8, " or ", same(`in list "vips"`), 1},
			{8, " and ", same(`in list "vips"`), 1},
			{199, " and ", same(`attr.mrr >= 30`), 30},
			{199, " or ", same(`attr.email contains "@"`), people},
		} {
			terms := make([]string, tc.n)
			for i := range terms {
				terms[i] = tc.term(i)
			}
			source := strings.Join(terms, tc.by)
			got, err := w.call(t, core.REST, "segments_preview_predicate", fmt.Sprintf(`{"source":%q}`, source))
			if want := fmt.Sprintf(`{"count":%d,`, tc.count); err != nil || !strings.HasPrefix(got, want) {
				t.Errorf("%.60s... of %d by%s: %.80s, %v, want %s", source, tc.n, tc.by, got, err, want)
			}
		}
	})
}
