package templates_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// TestVersion checks the versions of a managed template, and of a copy of the account's.
func TestVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		content := sending.Template{Name: "copy", Subject: "Hello", Text: "Hi", HTML: "<p>Hi</p>"}
		w.put(t, content)
		w.sync(t)
		saved := templates.ManagedTemplate{ID: core.NewID(), Slug: "news", DeployedName: "acme--news", CreatedAt: w.now}
		saved.Newest = templates.Version{Number: 1, Subject: "One", HTML: "<p>1</p>", Hash: "one", SavedAt: w.now}
		first := saved.Newest
		if err := w.managed.InsertManaged(t.Context(), w.org, saved); err != nil {
			t.Fatal(err)
		}
		saved.Newest = templates.Version{Number: 2, Subject: "Two", HTML: "<p>2</p>", Hash: "two", SavedAt: w.now}
		if err := w.managed.AddVersion(t.Context(), w.org, "one", saved); err != nil {
			t.Fatal(err)
		}
		content.Name = ""
		for _, tc := range []struct {
			slug   string
			number int
			want   templates.Version
		}{
			{"news", 0, saved.Newest},
			{"news", 2, saved.Newest},
			{"news", 1, first},
			{"copy", 0, templates.Version{Subject: "Hello", Text: "Hi", HTML: "<p>Hi</p>", Hash: templates.HashOf(content), SavedAt: w.now}},
		} {
			got, err := w.Version(t.Context(), w.org, tc.slug, tc.number)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("version %d of %s: %v %s", tc.number, tc.slug, err, diff)
			}
		}
		for slug, number := range map[string]int{"news": 3, "copy": 1, "none": 0} {
			if _, err := w.Version(t.Context(), w.org, slug, number); !core.IsNotFound(err) {
				t.Errorf("version %d of %s: %v, want not_found", number, slug, err)
			}
		}
		if _, err := w.Version(t.Context(), core.NewID(), "news", 0); !core.IsNotFound(err) {
			t.Errorf("another organization: %v", err)
		}
	})
}
