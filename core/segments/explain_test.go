package segments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/topics"
)

// TestExplainSaysWhichValueDecided checks each part of an explanation for one contact: its
// words, its result and the value that decided.
func TestExplainSaysWhichValueDecided(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		w.openMail(t, "ann")
		w.save(t, "readers", `exists(open)`)
		w.save(t, "why", `attr.plan = "pro" and (not attr.mrr > 5 or count(open within 1d) >= 2 or exists(activity.x))
			and not (subscribed to "news" and last(open) > now - 1d) and not suppressed and not in segment "readers"
			and last(click) < now and not unsubscribed from all and opted out of "news"`)
		w.follow(t)
		want := []string{
			`false: all of these are true`,
			`true: plan is "pro" ["pro"]`,
			`unknown: at least one of these is true`,
			`unknown: mrr is at most 5 [no value]`,
			`false: has at least 2 open events within the last 1 day [1 event]`,
			`false: has at least one "x" activity [0 events]`,
			`false: at least one of these is true`,
			`false: is not subscribed to the topic "news" (default: subscribed) [no choice; the default is subscribed]`,
			`false: latest open event is at the latest 1 day ago [2026-03-01 12:00:00 UTC]`,
			`true: address is not suppressed [not suppressed]`,
			`false: is not in the segment "readers" [in the segment]`,
			`unknown: latest click event is earlier than now [no such event]`,
			`true: is not unsubscribed from all mail [not unsubscribed from all mail]`,
			`false: is opted out of the topic "news" (default: subscribed) [no choice; the default is subscribed]`,
		}
		got, err := w.Explain(t.Context(), w.org, "why", w.contacts["ann"].ID)
		must(t, err)
		if difference := cmp.Diff(want, findingLines(got.Finding)); difference != "" {
			t.Error(difference)
		}
		if got.Segment.Key != "why" || !got.At.Equal(w.clock()) {
			t.Errorf("the explanation is of %s at %s", got.Segment.Key, got.At)
		}
	})
}

func findingLines(f segments.Finding) []string {
	value := ""
	if f.Value != "" {
		value = " [" + f.Value + "]"
	}
	lines := []string{fmt.Sprintf("%s: %s%s", f.Truth, f.Text, value)}
	for _, part := range f.Findings {
		lines = append(lines, findingLines(part)...)
	}
	return lines
}

// TestExplainShowsChoicesOfTopics checks the words for the choice that decided a test of a
// topic.
func TestExplainShowsChoicesOfTopics(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for name, change := range map[string]func(*contacts.Contact){
			"unsubscribed from all mail": func(c *contacts.Contact) { c.UnsubscribeAll = true },
			"opted out": func(c *contacts.Contact) {
				c.TopicPreferences = []topics.Preference{{Topic: "news", SubscriptionStatus: "OPT_OUT"}}
			},
			"opted in": func(c *contacts.Contact) {
				c.TopicPreferences = []topics.Preference{{Topic: "news", SubscriptionStatus: "OPT_IN"}}
			},
			"known only from activities, which subscribe to nothing": func(c *contacts.Contact) { c.Stub = true },
		} {
			key := strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")
			must(t, w.write(t.Context(), key, change))
			w.save(t, "news", `subscribed to "news"`)
			got, err := w.Explain(t.Context(), w.org, "news", w.contacts[key].ID)
			must(t, err)
			if got.Value != name {
				t.Errorf("%s is explained by %q", name, got.Value)
			}
		}
	})
}

// TestExplainRefusesWhatItCannotEvaluate checks the errors about unknown and foreign
// contacts, unknown segments, and predicates that do not compile.
func TestExplainRefusesWhatItCannotEvaluate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", nil)
		ann := w.contacts["ann"].ID
		w.save(t, "all", `has attr.email`)
		broken := w.save(t, "broken", `attr.mrr > 1`)
		broken.Source = `attr.gone > 1`
		must(t, w.Store.UpdateSegment(t.Context(), w.org, broken))
		for name, c := range map[string]struct {
			org, segment, contact string
			want                  core.Code
		}{
			"unknown contact":      {w.org, "all", core.NewID(), core.CodeNotFound},
			"no id":                {w.org, "all", "ann@example.com", core.CodeNotFound},
			"unknown segment":      {w.org, "none", ann, core.CodeNotFound},
			"another organization": {core.NewID(), "all", ann, core.CodeNotFound},
			"broken":               {w.org, "broken", ann, core.CodeValidationFailed},
		} {
			_, err := w.Explain(t.Context(), c.org, c.segment, c.contact)
			if err == nil || core.AsError(err).Code != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		if _, err := w.Explain(t.Context(), w.org, "all", ann); err != nil {
			t.Error(err)
		}
	})
}
