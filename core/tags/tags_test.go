package tags_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestEditTags(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, now := t.Context(), core.NewID(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		own := tags.New(tags.Config{Store: db.Tags(), Clock: func() time.Time { return now }})
		made, err := own.Create(ctx, org, tags.Wording{Name: " News ", Color: "#2563EB"})
		want := tags.Tag{ID: made.ID, Name: "News", Color: "#2563eb", CreatedAt: now}
		if diff := cmp.Diff(want, made); diff != "" || err != nil {
			t.Fatal(err, diff)
		}
		for _, bad := range []tags.Wording{
			{"", "#2563eb"},
			{strings.Repeat("ä", tags.MaxName+1), "#2563eb"},
			{"two\nlines", "#2563eb"},
			{"hidden\u202e", "#2563eb"},
			{"x", ""},
			{"x", "blue"},
			{"x", "#2563eb;"},
			{"x", "#2563e"},
		} {
			if _, err := own.Create(ctx, org, bad); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("create %+v: %v", bad, err)
			}
			if _, _, err := own.Edit(ctx, org, made.ID, bad); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("edit %+v: %v", bad, err)
			}
		}
		before, after, err := own.Edit(ctx, org, made.ID, tags.Wording{Name: "Events", Color: "#111111"})
		if after.Name != "Events" || after.Color != "#111111" || after.ID != made.ID {
			t.Errorf("after: %+v", after)
		}
		if diff := cmp.Diff(want, before); diff != "" || err != nil {
			t.Error(err, diff)
		}
		all, err := own.All(ctx, org)
		want.Name, want.Color = "Events", "#111111"
		if diff := cmp.Diff([]tags.Tag{want}, all); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if _, err := own.Delete(ctx, core.NewID(), made.ID); !core.IsNotFound(err) {
			t.Errorf("another organization deletes a tag: %v", err)
		}
		if gone, err := own.Delete(ctx, org, made.ID); gone.Name != "Events" || err != nil {
			t.Errorf("deleted %+v, %v", gone, err)
		}
	})
}

// TestNumberOfTags checks the limits of the tags of an organization and of one object.
func TestNumberOfTags(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, own := core.NewID(), tags.New(tags.Config{Store: db.Tags(), Clock: core.SystemClock})
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			for range tags.MaxTags {
				if _, err := own.Create(ctx, org, tags.Wording{Name: core.NewID(), Color: "#2563eb"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Create(t.Context(), org, tags.Wording{Name: "one more", Color: "#2563eb"}); !core.IsConflict(err) {
			t.Errorf("one more than the limit: %v", err)
		}
	})
	many := make([]string, tags.MaxOfOne+1)
	if err := tags.CheckNumber(many); err != nil { // the same id, several times
		t.Error(err)
	}
	for i := range many {
		many[i] = strings.Repeat("x", i)
	}
	if err := tags.CheckNumber(many); core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("too many tags of one object: %v", err)
	}
}
