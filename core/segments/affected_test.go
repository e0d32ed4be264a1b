package segments_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestPropertyEditsWarn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		must(t, w.db.ActivityProperties().InsertProperty(t.Context(), w.org, activities.Property{
			ID: core.NewID(), ActivityName: "purchase", Property: "amount", Type: activities.NumberProperty, Origin: activities.Managed,
			CreatedAt: w.now, UpdatedAt: w.now,
		}))
		w.save(t, "big", `exists(activity.purchase where amount > 5)`)
		w.save(t, "buyers", `exists(activity.purchase)`)
		w.save(t, "priced", `exists(activity.purchase where has amount)`)
		w.save(t, "other", `exists(activity.site_identified)`)
		amount := predicate.ActivityProperty{Activity: "purchase", Property: "amount"}
		price := predicate.ActivityProperty{Activity: "purchase", Property: "price"}
		for name, tc := range map[string]struct {
			edit segments.PropertyEdit
			want string
		}{
			"deleted": {segments.PropertyEdit{Before: amount}, `[big false It no longer compiles: line 1, column 32: activity.purchase has no property "amount" to test; expected a property that is registered for this activity; none is priced false It no longer compiles: line 1, column 36: activity.purchase has no property "amount" to test; expected a property that is registered for this activity; none is]`},
			"renamed": {segments.PropertyEdit{Before: amount, After: &price, Type: predicate.Number}, `[big false It no longer compiles: line 1, column 32: activity.purchase has no property "amount" to test; expected one of "price" priced false It no longer compiles: line 1, column 36: activity.purchase has no property "amount" to test; expected one of "price"]`},
			"retyped": {segments.PropertyEdit{Before: amount, After: &amount, Type: predicate.String}, "[big false It no longer compiles: line 1, column 32: amount is a string, which has no order; expected = or != " +
				"priced true Values of amount of activity.purchase that are not of its new type are unknown here.]"},
			"another": {segments.PropertyEdit{Before: price}, "[]"},
		} {
			tc.edit.Preview = true
			if got := w.editProperty(t, tc.edit); got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "big"); err != nil || seen.EvalWarning != "" || seen.Status != segments.Active {
			t.Errorf("a preview wrote %+v, %v", seen, err)
		}
		w.editProperty(t, segments.PropertyEdit{Before: amount})
		if seen, err := w.Store.Segment(t.Context(), w.org, "big"); err != nil || seen.EvalWarning == "" || seen.EvalWarningAt == nil || seen.Status != segments.Invalid {
			t.Errorf("big is %+v, %v", seen, err)
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "buyers"); err != nil || seen.EvalWarning != "" || seen.Status != segments.Active {
			t.Errorf("buyers is %+v, %v", seen, err)
		}
	})
}

func (w *world) editProperty(t *testing.T, edit segments.PropertyEdit) string {
	t.Helper()
	var affected []segments.Affected
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		var err error
		affected, err = w.ApplyPropertyEdit(ctx, w.org, edit)
		return err
	}))
	return describe(affected)
}

// TestADeletedListFreezesItsSegments checks that a segment that tests a deleted list
// becomes invalid and keeps its members, and that no contact is logged as having left. If a
// new list gets the key of the deleted one, the segment must be evaluated again.
func TestADeletedListFreezesItsSegments(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		old := w.list(t, "vips", "ann")
		w.put(t, "bob", nil)
		w.save(t, "ins", `in list "vips"`)
		w.save(t, "outs", `not in list "vips"`)
		w.save(t, "others", `has attr.mrr`)
		w.follow(t)
		w.wantMembers(t, "ins", "ann")
		must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
			if err := w.ApplyRedefinition(ctx, w.org, segments.Redefinition{GoneLists: []string{old}}); err != nil {
				return err
			}
			return w.db.Lists().DeleteList(ctx, w.org, old)
		}))
		for key, frozen := range map[string]bool{"ins": true, "outs": true, "others": false} {
			seen, err := w.Store.Segment(t.Context(), w.org, key)
			if err != nil || (seen.Status == segments.Invalid) != frozen || (seen.EvalWarning != "") != frozen || (seen.EvalWarningAt != nil) != frozen {
				t.Errorf("%s is %+v, %v", key, seen, err)
			}
		}
		w.put(t, "ann", nil)
		w.follow(t)
		w.wantMembers(t, "ins", "ann")
		w.wantMembers(t, "outs", "bob")

		w.list(t, "vips", "bob")
		w.follow(t)
		w.wantMembers(t, "ins", "bob")
		w.wantMembers(t, "outs", "ann")
		if got := w.transitions(t, "ins"); len(got) != 3 {
			t.Errorf("the log says %v", got)
		}
		// The new list has other members, so the segment keeps a warning until it is saved.
		seen, err := w.Store.Segment(t.Context(), w.org, "ins")
		if err != nil || seen.Status != segments.Active || !strings.HasPrefix(seen.EvalWarning, "What it tests was deleted, and something new has the name: ") || seen.EvalWarningAt == nil {
			t.Errorf("ins is %+v, %v", seen, err)
		}
		if saved := w.save(t, "ins", `in list "vips"`); saved.EvalWarning != "" || saved.EvalWarningAt != nil {
			t.Errorf("saved it warns of %q", saved.EvalWarning)
		}
	})
}

// list creates a static list with one contact on it and returns the id of the list.
func (w *world) list(t *testing.T, key, member string) string {
	t.Helper()
	w.put(t, member, nil)
	l := lists.List{ID: core.NewID(), Key: key, Name: key, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: w.now, UpdatedAt: w.now}
	must(t, w.db.Lists().InsertList(t.Context(), w.org, l))
	_, _, err := w.db.ListMembers().ReplaceMembership(t.Context(), w.org, w.contacts[member].ID, []string{l.ID}, w.now)
	must(t, err)
	return l.ID
}

// TestSegmentsFollowTopics changes the default subscription of a topic, which applies to
// contacts without a choice about the topic. Segments that test the topic must be evaluated
// again. A segment that tests a deleted topic must become invalid.
func TestSegmentsFollowTopics(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, "ann", nil)
		w.save(t, "readers", `subscribed to "news"`)
		w.save(t, "others", `has attr.mrr`)
		w.follow(t)
		w.wantMembers(t, "readers", "ann")
		w.topics(t, segments.Redefinition{TurnedTopics: []string{"news"}}, sending.Topic{Name: "news", Default: sending.OptOut})
		if seen, err := w.Store.Segment(t.Context(), w.org, "readers"); err != nil || seen.EvalWarning != "" || seen.Status != segments.Active || !seen.Stale {
			t.Errorf("readers are %+v, %v", seen, err)
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "others"); err != nil || seen.Stale {
			t.Errorf("others are %+v, %v", seen, err)
		}
		w.follow(t)
		w.wantMembers(t, "readers")
		w.topics(t, segments.Redefinition{TurnedTopics: []string{"news"}}, sending.Topic{Name: "news", Default: sending.OptIn})
		w.follow(t)
		w.wantMembers(t, "readers", "ann")

		w.topics(t, segments.Redefinition{GoneTopics: []string{"news"}})
		if seen, err := w.Store.Segment(t.Context(), w.org, "readers"); err != nil || seen.EvalWarning == "" || seen.Status != segments.Invalid {
			t.Errorf("readers are %+v, %v", seen, err)
		}
		w.topics(t, segments.Redefinition{}, sending.Topic{Name: "news", Default: sending.OptOut})
		w.follow(t)
		w.wantMembers(t, "readers")
	})
}

// topics replaces Mailhelm's copy of the sending account's topics and reports the change to
// segments, in one transaction, like the job that copies the topics of accounts.
func (w *world) topics(t *testing.T, what segments.Redefinition, topics ...sending.Topic) {
	t.Helper()
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if err := w.ApplyRedefinition(ctx, w.org, what); err != nil {
			return err
		}
		return w.db.Topics().ReplaceTopics(ctx, w.org, topics, w.clock())
	}))
}
