package segments_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
)

func TestPropertyEditsWarn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		must(t, w.db.Activities().InsertProperty(t.Context(), w.org, activities.Property{
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
			if got := w.propertyEdited(t, tc.edit); got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "big"); err != nil || seen.EvalWarning != "" || seen.Status != segments.Active {
			t.Errorf("a preview wrote %+v, %v", seen, err)
		}
		w.propertyEdited(t, segments.PropertyEdit{Before: amount})
		if seen, err := w.Store.Segment(t.Context(), w.org, "big"); err != nil || seen.EvalWarning == "" || seen.EvalWarningAt == nil || seen.Status != segments.Invalid {
			t.Errorf("big is %+v, %v", seen, err)
		}
		if seen, err := w.Store.Segment(t.Context(), w.org, "buyers"); err != nil || seen.EvalWarning != "" || seen.Status != segments.Active {
			t.Errorf("buyers is %+v, %v", seen, err)
		}
	})
}

func (w *world) propertyEdited(t *testing.T, edit segments.PropertyEdit) string {
	t.Helper()
	var affected []segments.Affected
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		var err error
		affected, err = w.PropertyEdited(ctx, w.org, edit)
		return err
	}))
	return described(affected)
}
