package segments_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestMembersFollowContacts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		w.put(t, "bob", map[string]any{"plan": "free"})
		saved := w.save(t, "pros", `attr.plan = "pro"`)
		if saved.LastEvaluatedAt != nil || saved.EvalClass != predicate.Incremental {
			t.Errorf("a new segment is %+v", saved)
		}
		w.wantMembers(t, "pros")
		w.follow(t)
		w.wantMembers(t, "pros", "ann")

		w.put(t, "bob", map[string]any{"plan": "pro"})
		w.put(t, "cid", map[string]any{"plan": "pro"})
		w.put(t, "ann", nil)
		w.wantMembers(t, "pros", "ann") // after a delay
		w.follow(t)
		w.wantMembers(t, "pros", "bob", "cid")
		must(t, w.write(t.Context(), "bob", func(c *contacts.Contact) { c.Status = contacts.Archived }))
		w.follow(t)
		w.wantMembers(t, "pros", "cid")

		got := w.transitions(t, "pros")
		slices.Sort(got[1:4]) // these have the same time
		if want := []string{"ann true", "ann false", "bob true", "cid true", "bob false"}; !slices.Equal(got, want) {
			t.Errorf("the log says %v, want %v", got, want)
		}
		_, details, err := w.db.Contacts().LookUp(t.Context(), w.org, contacts.Key{ID: w.contacts["cid"].ID})
		if details.Segments != 1 || err != nil {
			t.Errorf("cid is in %d segments, %v", details.Segments, err)
		}
		w.follow(t)
		if again := w.transitions(t, "pros"); len(again) != len(got) {
			t.Errorf("nothing changed and the log grew: %v", again)
		}
	})
}

func TestWindowsEndWithASweep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", nil)
		w.put(t, "bob", nil)
		w.save(t, "engaged", `count(open within 7d) >= 1`)
		w.openMail(t, "ann")
		w.follow(t)
		w.wantMembers(t, "engaged", "ann")
		w.openMail(t, "bob")
		w.follow(t) // bob's open event causes an evaluation of bob
		w.wantMembers(t, "engaged", "ann", "bob")
		w.advance(7*24*time.Hour + time.Microsecond)
		w.openMail(t, "bob")
		w.follow(t)
		// ann's open event is outside the window now, but only an evaluation of all contacts
		// finds that
		w.wantMembers(t, "engaged", "ann", "bob")
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "engaged", "bob")
	})
}

func TestSuppressionFollowsTheAccountsListWithASweep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", nil)
		w.put(t, "bob", nil)
		w.save(t, "mailable", `subscribed to "news" and not suppressed`)
		w.suppressed = []string{"Ann@Example.com", "stranger@example.com"}
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "mailable", "bob")
		w.suppressed = []string{"bob@example.com"}
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "mailable", "ann")
	})
}

// TestAnEndlessSuppressionListKeepsTheEarlierCopy checks that a listing whose page token
// repeats does not replace the stored copy, because addresses on later pages would be lost.
func TestAnEndlessSuppressionListKeepsTheEarlierCopy(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", nil)
		w.put(t, "bob", nil)
		w.save(t, "mailable", `subscribed to "news" and not suppressed`)
		w.suppressed = []string{"stranger@example.com", "other@example.com", "ann@example.com"}
		must(t, w.Sweep(t.Context(), w.org))
		w.stuck = true
		if err := w.Sweep(t.Context(), w.org); err == nil {
			t.Error("a repeated page token is no failure")
		}
		w.wantMembers(t, "mailable", "bob")
	})
}

// TestAWorkerWithAnOldSchemaLeavesTheStatus checks that a worker does not change the status
// of a segment by a schema that was replaced after the worker read it.
func TestAWorkerWithAnOldSchemaLeavesTheStatus(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "readers", `subscribed to "news"`)
		replace := func(topics ...sending.Topic) {
			must(t, w.db.Topics().ReplaceTopics(t.Context(), w.org, topics, w.clock()))
			must(t, w.Follow(t.Context(), w.org))
		}
		news := sending.Topic{Name: "news", Default: sending.OptIn}
		check := func(want segments.Status, during func()) {
			t.Helper()
			worker := w.segmentsWithHooks(hooks{compiling: during})
			must(t, worker.Follow(t.Context(), w.org))
			if seen, err := w.Store.Segment(t.Context(), w.org, "readers"); err != nil || seen.Status != want || (seen.EvalWarning != "") != (want == segments.Invalid) {
				t.Errorf("the segment is %q with the warning %q, %v, want %q", seen.Status, seen.EvalWarning, err, want)
			}
		}
		replace()
		check(segments.Active, func() { replace(news) })
		check(segments.Invalid, func() { replace() })
		replace(news)
		must(t, w.db.Topics().ReplaceTopics(t.Context(), w.org, nil, w.clock()))
		check(segments.Active, func() { replace(news) })
	})
}

func TestPausedAndInvalidSegmentsKeepTheirMembers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro"})
		paused := w.save(t, "paused", `attr.plan = "pro"`)
		broken := w.save(t, "broken", `attr.plan = "pro" and subscribed to "news"`)
		w.follow(t)
		_, err := w.SetStatus(t.Context(), w.org, paused.ID, segments.Paused)
		must(t, err)
		must(t, w.db.Topics().ReplaceTopics(t.Context(), w.org, nil, w.now))
		w.put(t, "ann", nil)
		w.follow(t)
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "paused", "ann")
		w.wantMembers(t, "broken", "ann")
		seen, err := w.Store.Segment(t.Context(), w.org, broken.ID)
		must(t, err)
		if seen.Status != segments.Invalid || seen.EvalWarningAt == nil || seen.EvalWarning != `It no longer compiles: line 1, column 37: there is no topic "news"` {
			t.Errorf("the broken one is %+v", seen)
		}
		// The deleted topic exists again, and the paused segment is resumed.
		w.advance(time.Second)
		must(t, w.db.Topics().ReplaceTopics(t.Context(), w.org, []sending.Topic{{Name: "news", Default: sending.OptIn}}, w.now))
		if _, err = w.SetStatus(t.Context(), w.org, paused.ID, segments.Active); err != nil {
			t.Fatal(err)
		}
		w.follow(t)
		w.wantMembers(t, "paused")
		w.wantMembers(t, "broken")
		if seen, err = w.Store.Segment(t.Context(), w.org, broken.ID); err != nil || seen.Status != segments.Active {
			t.Errorf("what compiles again is %s, %v", seen.Status, err)
		}
		// No stored values were lost, so the warning ended when the predicate compiled again.
		if seen.EvalWarning != "" || seen.EvalWarningAt != nil || !seen.UpdatedAt.After(broken.UpdatedAt) {
			t.Errorf("its warning is %q since %v, changed at %v", seen.EvalWarning, seen.EvalWarningAt, seen.UpdatedAt)
		}
	})
}

func TestSegmentsOfSegmentsComeInOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		// The segment outer is created before the segment that it tests, so that the order of
		// creation is not the order of evaluation.
		w.save(t, "outer", `has attr.mrr`)
		w.save(t, "inner", `attr.plan = "pro"`)
		w.save(t, "outer", `in segment "inner" and attr.mrr > 10`)
		w.put(t, "ann", map[string]any{"plan": "pro", "mrr": 11.0})
		w.follow(t)
		w.wantMembers(t, "outer", "ann")
		w.put(t, "ann", map[string]any{"mrr": 11.0})
		w.follow(t)
		w.wantMembers(t, "outer")
		w.put(t, "bob", map[string]any{"plan": "pro", "mrr": 11.0})
		w.follow(t)
		w.wantMembers(t, "outer", "bob")
	})
}

func TestCirclesAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "one", `has attr.mrr`)
		w.save(t, "two", `in segment "one"`)
		w.save(t, "three", `not in segment "two"`)
		for key, source := range map[string]string{"one": `has attr.mrr or in segment "three"`, "two": `in segment "two"`, "new": `in segment "new"`} {
			_, err := w.Save(t.Context(), w.org, segments.Definition{Key: key, Name: key, Source: source, Origin: segments.Managed})
			if e := core.AsError(err); e == nil || e.Code != core.CodeValidationFailed || e.Fields[0].Reason != "tests the segment itself, directly or through other segments" {
				t.Errorf("%s: %v", key, err)
			}
		}
	})
}

// TestMembershipIsEventuallyWhatContactsSay runs many writers of contacts while several
// workers evaluate segments. At the end, the members must be the contacts that match. In
// the membership log, each contact must have as many entries as exits, or one more.
func TestMembershipIsEventuallyWhatContactsSay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "pros", `attr.plan = "pro"`)
		w.save(t, "rich", `in segment "pros" and attr.mrr >= 50`)
		const writers, rounds = 4, 15
		var group sync.WaitGroup
		failures := make(chan error, 1000)
		for writer := range writers {
			group.Go(func() {
				for round := range rounds {
					name := fmt.Sprintf("c%d-%d", writer, round%5)
					plan := []string{"free", "pro"}[(round/5+writer)%2]
					failures <- w.write(t.Context(), name, func(c *contacts.Contact) {
						c.Attributes = map[string]any{"plan": plan, "mrr": float64(round * 5)}
					})
				}
			})
		}
		for range 3 {
			group.Go(func() {
				for range 8 {
					failures <- w.Follow(t.Context(), w.org)
					failures <- w.Sweep(t.Context(), w.org)
				}
			})
		}
		group.Wait()
		close(failures)
		for err := range failures {
			must(t, err)
		}
		w.follow(t)
		var pros, rich []string
		for _, name := range slices.Sorted(maps.Keys(w.contacts)) {
			if a := w.contacts[name].Attributes; a["plan"] == "pro" {
				pros = append(pros, name)
				if a["mrr"].(float64) >= 50 {
					rich = append(rich, name)
				}
			}
		}
		w.wantMembers(t, "pros", pros...)
		w.wantMembers(t, "rich", rich...)
		w.alternates(t, "pros")
		w.alternates(t, "rich")
	})
}

// alternates checks that the membership log of a segment has an entry and an exit in turn
// for each contact.
func (w *world) alternates(t *testing.T, key string) {
	t.Helper()
	segment, err := w.Store.Segment(t.Context(), w.org, key)
	must(t, err)
	inside, balance := map[string]int{}, 0
	for _, line := range w.log(t, key) {
		if line.Entered {
			inside[line.ContactID]++
			balance++
		} else {
			inside[line.ContactID]--
			balance--
		}
	}
	for id, n := range inside {
		if n != 0 && n != 1 {
			t.Errorf("%s: %s entered %d times more often than left", key, id, n)
		}
	}
	if balance != segment.MemberCount {
		t.Errorf("%s: the log leaves %d inside of %d", key, balance, segment.MemberCount)
	}
}

// TestAFailedWorkerKeepsTheChangedContacts checks that a failed worker does not delete the
// stored ids of changed contacts, and that another worker completes the evaluation.
func TestAFailedWorkerKeepsTheChangedContacts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "pros", `attr.plan = "pro"`)
		w.follow(t)
		w.put(t, "ann", map[string]any{"plan": "pro"})
		broken := errors.New("broken")
		failing := segments.New(w.Config)
		failing.Changes = noUntouch{failing.Changes, broken}
		if err := failing.Follow(t.Context(), w.org); !errors.Is(err, broken) {
			t.Errorf("the failing worker says %v", err)
		}
		w.follow(t)
		w.wantMembers(t, "pros", "ann")
		if notes, err := w.Changes.Touches(t.Context(), w.org, 10); err != nil || len(notes) != 0 {
			t.Errorf("%d notes are left, %v", len(notes), err)
		}
		if log := w.transitions(t, "pros"); !slices.Equal(log, []string{"ann true"}) {
			t.Errorf("the log says %v", log)
		}
	})
}

// noUntouch is a store that fails to delete the stored ids of changed contacts, as if the
// worker were killed before the deletion.
type noUntouch struct {
	segments.ChangeStore
	err error
}

func (s noUntouch) Untouch(context.Context, string, []string) error { return s.err }

func TestAttributeEditsWarn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", map[string]any{"plan": "pro", "mrr": 1.0})
		w.save(t, "pros", `attr.plan = "pro"`)
		w.save(t, "paying", `has attr.mrr`)
		w.save(t, "all", `attr.email contains "@"`)
		w.follow(t)
		text := predicate.AttributeType{Type: predicate.String}
		edits := map[string]segments.AttributeEdit{
			"widened": {Name: "plan", NewName: "plan", Type: predicate.AttributeType{Type: predicate.Enum, EnumValues: []string{"free", "pro", "team"}}},
			"narrow":  {Name: "plan", NewName: "plan", Type: predicate.AttributeType{Type: predicate.Enum, EnumValues: []string{"free"}}},
			"class":   {Name: "mrr", NewName: "mrr", Type: text, Disruptive: true},
			"renamed": {Name: "plan", NewName: "tier", Type: text, Disruptive: true},
		}
		want := map[string]string{
			"widened": "[]",
			"narrow":  `[pros true It tests a value that contacts can no longer have: attr.plan is never "pro".]`,
			"class":   "[paying true Values of attr.mrr that do not fit its new type are unknown here.]",
			"renamed": `[pros false It no longer compiles: line 1, column 1: attribute "plan" is not registered]`,
		}
		for name, edit := range edits {
			edit.Preview = true
			if got := w.editAttribute(t, edit); got != want[name] {
				t.Errorf("%s: %s", name, got)
			}
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "pros"); err != nil || seen.EvalWarning != "" {
			t.Errorf("a preview wrote %q, %v", seen.EvalWarning, err)
		}
		w.editAttribute(t, edits["narrow"])
		w.editAttribute(t, edits["class"])
		w.follow(t)
		must(t, w.Sweep(t.Context(), w.org))
		for key, status := range map[string]segments.Status{"pros": segments.Active, "paying": segments.Active} {
			if seen, err := w.Store.Segment(t.Context(), w.org, key); err != nil || seen.EvalWarning == "" || seen.EvalWarningAt == nil || seen.Status != status {
				t.Errorf("%s is %+v, %v", key, seen, err)
			}
		}
		w.editAttribute(t, edits["renamed"])
		if seen, err := w.Store.Segment(t.Context(), w.org, "pros"); err != nil || seen.Status != segments.Invalid || seen.MemberCount != 1 {
			t.Errorf("pros is %+v, %v", seen, err)
		}
		// The test reported a new name of the attribute plan without changing the registry
		// of attributes, so the segment compiles again. The earlier warning about the
		// removed enum value stays.
		w.follow(t)
		if seen, err := w.Store.Segment(t.Context(), w.org, "pros"); err != nil || seen.Status != segments.Active || seen.EvalWarningAt == nil ||
			seen.EvalWarning != `It tests a value that contacts can no longer have: attr.plan is never "pro".` {
			t.Errorf("pros is %+v, %v", seen, err)
		}
		if saved := w.save(t, "paying", `has attr.mrr`); saved.EvalWarning != "" || saved.EvalWarningAt != nil {
			t.Errorf("a saved segment still warns: %+v", saved)
		}
	})
}

func (w *world) editAttribute(t *testing.T, edit segments.AttributeEdit) string {
	t.Helper()
	var affected []segments.Affected
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		var err error
		affected, err = w.ApplyAttributeEdit(ctx, w.org, edit)
		return err
	}))
	return describe(affected)
}

func describe(affected []segments.Affected) string {
	lines := make([]string, len(affected))
	for i, a := range affected {
		lines[i] = fmt.Sprintf("%s %v %s", a.Name, a.TypecheckOK, a.Warning)
	}
	return fmt.Sprint(lines)
}
