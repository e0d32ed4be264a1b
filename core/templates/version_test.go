package templates_test

import (
	"slices"
	"strings"
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
		saved.Newest.DeployedName, first.DeployedName = saved.DeployedName, saved.DeployedName
		for _, tc := range []struct {
			slug   string
			number int
			want   templates.Version
		}{
			{"news", 0, saved.Newest},
			{"news", 2, saved.Newest},
			{"news", 1, first},
			{"copy", 0, templates.Version{Subject: "Hello", Text: "Hi", HTML: "<p>Hi</p>", Hash: templates.HashOf(content), SavedAt: w.now, DeployedName: "copy"}},
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

// TestManagedTemplatesAreRead reads a managed template by the operations that read copies,
// and checks that a sync leaves it as it is.
func TestManagedTemplatesAreRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{Name: "copy", Subject: "Hello"})
		profiles := map[string]any{"vip": map[string]any{"name": "Ada", "gift": "a book"}, "new": map[string]any{"name": "Bo"}}
		authored, err := w.author(t, "slug", "news/weekly", "subject", "Hi {{name}}", "html", "<p>{{name}} gets {{gift}}</p>", "testdata", profiles)
		if err != nil {
			t.Fatal(err)
		}
		// an earlier version at the account, as Mailhelm deployed it
		w.put(t, sending.Template{Name: "acme--news--weekly", Subject: "Old"})
		w.sync(t)
		if diff := cmp.Diff([]string{"copy", "news/weekly"}, slices.Sorted(slices.Values(w.slugs(t, core.REST, "")))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"news/weekly"}, w.slugs(t, core.Agent, `{"query":"weekly"}`)); diff != "" {
			t.Error(diff)
		}
		got := w.get(t, "news/weekly")
		if got.Name != "news/weekly" || got.Subject != "Hi {{name}}" || got.Source != templates.Managed || got.ContentHash != authored.ContentHash ||
			got.Version != authored.ContentHash[:7] || got.DeployedName != "acme--news--weekly" || got.VersionNumber != 1 || got.DeployedVersion != nil || got.Topic != nil {
			t.Errorf("%+v", got)
		}
		if diff := cmp.Diff(profiles, got.TestData); diff != "" {
			t.Error(diff)
		}
		for arguments, want := range map[string]string{
			`{"slug":"news/weekly","profile":"vip"}`:                          "Ada gets a book",
			`{"slug":"news/weekly","profile":"new"}`:                          "Bo gets ",
			`{"slug":"news/weekly","profile":"vip","data":{"gift":"a lamp"}}`: "Ada gets a lamp",
		} {
			out, err := w.call(t, core.Agent, "templates_render", arguments)
			if err != nil || out.(templates.RenderedTemplate).HTML != "<p>"+want+"</p>" {
				t.Errorf("%s: %v %+v", arguments, err, out)
			}
		}
		if _, err := w.call(t, core.Agent, "templates_render", `{"slug":"news/weekly","profile":"none"}`); core.AsError(err).Code != core.CodeValidationFailed || !strings.Contains(err.Error(), `"new", "vip"`) {
			t.Errorf("an unknown profile: %v", err)
		}
	})
}
