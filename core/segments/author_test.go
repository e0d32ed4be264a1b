package segments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func sqliteWorld(t *testing.T, db *storage.DB) (*world, segments.Author) {
	t.Helper()
	w := newWorld(t, db)
	return w, segments.Author{Store: db.Segments(), Clock: w.clock}
}

// TestReviewHasWordsOrFaults checks the review of a predicate that compiles and of one with
// a misspelled name.
func TestReviewHasWordsOrFaults(t *testing.T) {
	t.Parallel()
	w, author := sqliteWorld(t, storagetest.SQLite(t))
	good, err := author.Review(t.Context(), w.record(), "", `attr.plan != "free"`)
	must(t, err)
	if good.Words != `Contacts whose plan is not "free".` || len(good.Warnings) != 1 || len(good.Faults) != 0 || good.Parts == nil {
		t.Errorf("%+v", good)
	}
	bad, err := author.Review(t.Context(), w.record(), "", "attr.mrr > 1\nand attr.plna = \"pro\"")
	must(t, err)
	if len(bad.Faults) != 1 || bad.Words != "" || bad.Faults[0].Line != 2 || bad.Faults[0].Suggestion == "" {
		t.Errorf("%+v", bad)
	}
}

// TestReviewWarns checks the warnings that depend on the organization: a time before its
// retention, and a segment that tests itself through another one.
func TestReviewWarns(t *testing.T) {
	t.Parallel()
	w, author := sqliteWorld(t, storagetest.SQLite(t))
	w.save(t, "first", `attr.mrr > 1`)
	w.save(t, "second", `in segment "first"`)
	org := w.record()
	org.RetentionDays = 30
	for _, c := range []struct{ key, source, want string }{
		{"first", `in segment "second"`, `tests itself here, through "second"`},
		{"", `in segment "second"`, ""},
		{"third", `in segment "second"`, ""},
		{"", `exists(activity.purchase within 90d)`, "deleted 30 days after"},
		{"", `attr.mrr > 1 and attr.mrr < 1`, "no contact matches"},
	} {
		review, err := author.Review(t.Context(), org, c.key, c.source)
		must(t, err)
		if got := fmt.Sprint(review.Warnings); c.want == "" && len(review.Warnings) > 0 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.source, got)
		}
	}
}

// TestDependentsNameTheSegment checks which segments count as depending on another one.
func TestDependentsNameTheSegment(t *testing.T) {
	t.Parallel()
	w, author := sqliteWorld(t, storagetest.SQLite(t))
	w.save(t, "base", `attr.mrr > 1`)
	w.save(t, "uses", `not in segment "base"`)
	w.save(t, "other", `attr.mrr > 2`)
	gone := w.save(t, "gone", `in segment "base"`)
	_, err := w.SetStatus(t.Context(), w.org, gone.ID, segments.Archived)
	must(t, err)
	for org, want := range map[string]string{w.org: "uses", core.NewID(): ""} {
		found, err := author.Dependents(t.Context(), org, "base")
		must(t, err)
		var keys []string
		for _, s := range found {
			keys = append(keys, s.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("dependents %q, want %q", got, want)
		}
	}
}

// TestFindPagesThroughSegments checks the filters, the pages and the total of Find.
func TestFindPagesThroughSegments(t *testing.T) {
	t.Parallel()
	w, author := sqliteWorld(t, storagetest.SQLite(t))
	for _, key := range []string{"a1", "a2", "b1"} {
		w.save(t, key, `attr.mrr > 1`)
	}
	first, err := author.Find(t.Context(), w.org, segments.Filter{Query: "A"}, "", 1)
	must(t, err)
	second, err := author.Find(t.Context(), w.org, segments.Filter{Query: "A"}, first.Next, 1)
	must(t, err)
	if len(first.Items) != 1 || len(second.Items) != 1 || first.Total != 2 || second.Next != "" || first.Items[0].Key == second.Items[0].Key {
		t.Errorf("%+v, %+v", first, second)
	}
	if _, err := author.Find(t.Context(), w.org, segments.Filter{}, first.Next, 1); err == nil || core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("the cursor of another filter: %v", err)
	}
	none, err := author.Find(t.Context(), w.org, segments.Filter{Status: segments.Archived}, "", 1)
	must(t, err)
	if none.Total != 0 {
		t.Errorf("%+v", none)
	}
}
