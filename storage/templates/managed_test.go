package templates_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// version returns a version with its hash, saved number hours after the start.
func version(number int, subject string) templates.Version {
	return templates.Version{
		Number: number, Subject: subject, HTML: "<p>x</p>", Text: "x", Message: "why " + subject, SavedAt: start.Add(time.Duration(number) * time.Hour),
		Hash:    templates.HashOf(sending.Template{Subject: subject, HTML: "<p>x</p>", Text: "x"}),
		SavedBy: templates.Author{Kind: "api_key", ID: "key", UserID: "user"},
	}
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if !core.IsConflict(err) {
		t.Errorf("%s: %v, want a conflict", what, err)
	}
}

func TestVersionsOfAManagedTemplate(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, store := t.Context(), core.NewID(), db.ManagedTemplates()
		first := templates.ManagedTemplate{ID: core.NewID(), Slug: "a/b", DeployedName: "acme--a--b", TestData: `{"name":"Ada"}`, CreatedAt: start, Newest: version(1, "one")}
		if err := store.InsertManaged(ctx, org, first); err != nil {
			t.Fatal(err)
		}
		same := first
		same.ID, same.Slug = core.NewID(), "a--b"
		wantConflict(t, "the same deployed name", store.InsertManaged(ctx, org, same))
		same.Slug, same.DeployedName = first.Slug, "other"
		wantConflict(t, "the same slug", store.InsertManaged(ctx, org, same))

		second := first
		second.Newest = version(2, "two")
		wantConflict(t, "a stale hash", store.AddVersion(ctx, org, "stale", second))
		wantConflict(t, "another organization", store.AddVersion(ctx, core.NewID(), first.Newest.Hash, second))
		if err := store.AddVersion(ctx, org, first.Newest.Hash, second); err != nil {
			t.Fatal(err)
		}
		wantConflict(t, "the same change again", store.AddVersion(ctx, org, first.Newest.Hash, second))
		found, err := store.ManagedBySlug(ctx, org, "a/b")
		if diff := cmp.Diff(second, found); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		without := func(v templates.Version) templates.Version {
			v.HTML, v.Text = "", ""
			return v
		}
		for before, want := range map[int][]templates.Version{3: {without(second.Newest), without(first.Newest)}, 2: {without(first.Newest)}} {
			versions, err := store.Versions(ctx, org, first.ID, before, 10)
			if diff := cmp.Diff(want, versions); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		}
		old, err := store.VersionBySlug(ctx, org, "a/b", 1)
		if diff := cmp.Diff(first.Newest, old); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		for slug, number := range map[string]int{"a/b": 3, "a--b": 1} {
			if _, err := store.VersionBySlug(ctx, org, slug, number); !core.IsNotFound(err) {
				t.Errorf("version %d of %s: %v", number, slug, err)
			}
		}
		if _, err := store.VersionBySlug(ctx, core.NewID(), "a/b", 1); !core.IsNotFound(err) {
			t.Errorf("another organization reads a version: %v", err)
		}
		if others, err := store.Versions(ctx, core.NewID(), first.ID, 10, 10); len(others) != 0 || err != nil {
			t.Errorf("another organization reads %v, %v", others, err)
		}
	})
}

// TestCopiesAndManagedTemplatesStayApart checks that the copy job neither changes nor
// deletes a managed template, even if the account lists a template with its deployed name,
// and that a managed template does not replace a copy.
func TestCopiesAndManagedTemplatesStayApart(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, store, copies := t.Context(), core.NewID(), db.ManagedTemplates(), db.Templates()
		mine := templates.ManagedTemplate{ID: core.NewID(), Slug: "welcome", DeployedName: "acme--welcome", CreatedAt: start, Newest: version(1, "one")}
		if err := store.InsertManaged(ctx, org, mine); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"acme--welcome", "Welcome"} {
			if err := copies.SaveTemplate(ctx, org, sending.Template{Name: name, Subject: "of the account"}, start, start); err != nil {
				t.Fatal(err)
			}
		}
		reads, err := copies.ReadTemplates(ctx, org)
		if diff := cmp.Diff(map[string]time.Time{"Welcome": start}, reads); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if err := copies.DropTemplates(ctx, org, map[string]time.Time{"acme--welcome": time.UnixMicro(0).UTC()}); err != nil {
			t.Fatal(err)
		}
		found, err := store.ManagedBySlug(ctx, org, "welcome")
		if diff := cmp.Diff(mine, found); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		names, err := store.ManagedNames(ctx, org)
		if diff := cmp.Diff([]string{"acme--welcome"}, names); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if _, err := store.ManagedBySlug(ctx, org, "welcome-2"); !core.IsNotFound(err) {
			t.Errorf("a copy is read as managed: %v", err)
		}
		mine.ID, mine.Slug, mine.DeployedName = core.NewID(), "welcome-2", "acme--welcome-2"
		wantConflict(t, "the slug of a copy", store.InsertManaged(ctx, org, mine))
	})
}
