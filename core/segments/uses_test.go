package segments_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/segments"
)

// TestUses checks which segments are returned with the names that they test: neither
// archived segments nor those that do not compile.
func TestUses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "rich", `attr.mrr > 5`)
		w.save(t, "buyers", `exists(activity.purchase)`)
		old := w.save(t, "old", `has attr.mrr`)
		old.Status = segments.Archived
		broken := w.save(t, "broken", `has attr.mrr`)
		broken.Source = `has attr.gone`
		must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
			if err := w.Store.UpdateSegment(ctx, w.org, old); err != nil {
				return err
			}
			return w.Store.UpdateSegment(ctx, w.org, broken)
		}))
		uses, err := w.Uses(t.Context(), w.org)
		must(t, err)
		got := map[string][]string{}
		for _, use := range uses {
			got[use.Name] = use.References.Attributes
		}
		if diff := cmp.Diff(map[string][]string{"rich": {"mrr"}, "buyers": nil}, got); diff != "" {
			t.Error(diff)
		}
	})
}
