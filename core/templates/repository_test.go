package templates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// commit is the commit from which the tests sync.
const commit = "0123456789abcdef0123456789abcdef01234567"

// define stores a template as a sync of the repository does.
func (w *world) define(t *testing.T, slug, html string) {
	t.Helper()
	d := templates.Definition{Slug: slug, Subject: "News", HTML: html}
	if _, err := (templates.Definitions{Config: w.Config}).Define(t.Context(), core.Org{ID: w.org, Slug: "acme"}, d, templates.Author{Kind: "system"}); err != nil {
		t.Fatal(err)
	}
	w.own(t, slug, bundles.Owner{Origin: core.GitOrigin, Commit: commit})
}

// keepInvalid stores faults as a sync of the repository does.
func (w *world) keepInvalid(t *testing.T, slug string, faults ...string) {
	t.Helper()
	if err := (templates.Definitions{Config: w.Config}).KeepInvalid(t.Context(), core.Org{ID: w.org, Slug: "acme"}, slug, faults); err != nil {
		t.Fatal(err)
	}
	w.own(t, slug, bundles.Owner{Origin: core.GitOrigin})
}

func (w *world) own(t *testing.T, slug string, owner bundles.Owner) {
	t.Helper()
	if err := w.db.Bundles().SetOrigins(t.Context(), w.org, definitions.KindTemplate, []string{slug}, owner); err != nil {
		t.Fatal(err)
	}
}

// listed returns the template with the slug from the list.
func (w *world) listed(t *testing.T, slug string) templates.Template {
	t.Helper()
	out, err := w.call(t, core.Agent, "templates_list", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	all := out.(core.Page[templates.Template]).Items
	return all[slices.IndexFunc(all, func(row templates.Template) bool { return row.Slug == slug })]
}

// record is what a template shows of its origin and state.
type record struct {
	Source, Version, Validation, HTML string
	Number                            int
	Diagnostics                       []string
}

// wantRecord checks a template in the list and in detail.
func (w *world) wantRecord(t *testing.T, slug string, want record) {
	t.Helper()
	got := w.get(t, slug)
	if diff := cmp.Diff(want, record{got.Source, got.Version, got.Validation, got.HTML, got.VersionNumber, got.Diagnostics}); diff != "" {
		t.Error(diff)
	}
	row := w.listed(t, slug)
	if row.Source != want.Source || row.Version != want.Version || row.Validation != want.Validation || row.Name != slug {
		t.Errorf("in the list: %+v", row)
	}
}

func (w *world) undeployed(t *testing.T) []string {
	t.Helper()
	due, err := w.db.Deployments().Undeployed(t.Context(), w.org, w.now, 10)
	if err != nil {
		t.Fatal(err)
	}
	slugs := []string{}
	for _, u := range due {
		slugs = append(slugs, u.Slug)
	}
	return slugs
}

// TestTemplateThatWasNeverValid stores a template whose first files have faults, and then valid ones.
func TestTemplateThatWasNeverValid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.keepInvalid(t, "news", "The first.", "The second.")
		w.wantRecord(t, "news", record{Source: "git", Validation: "invalid", Diagnostics: []string{"The first.", "The second."}})
		for what, err := range map[string]error{
			"rendered":        func() error { _, err := w.call(t, core.Agent, "templates_render", `{"slug":"news"}`); return err }(),
			"sent":            func() error { _, err := w.Version(t.Context(), w.org, "news", 0); return err }(),
			"sent, version 1": func() error { _, err := w.Version(t.Context(), w.org, "news", 1); return err }(),
		} {
			refusal := core.AsError(err)
			if err == nil || refusal.Code != core.CodeValidationFailed || !strings.Contains(refusal.Message, "The first.") {
				t.Errorf("%s: %v", what, err)
			}
		}
		named, err := w.Store.Slugs(t.Context(), w.org)
		if diff := cmp.Diff([]templates.SlugUse{{Slug: "news", Source: "git"}}, named); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		if due := w.undeployed(t); len(due) != 0 {
			t.Errorf("to deploy: %v", due)
		}
		if history, next, err := w.History(t.Context(), w.org, "news", 0, 10); len(history) != 0 || next != 0 || err != nil {
			t.Errorf("versions %v, %d, %v", history, next, err)
		}
		held := bundles.NewHeld()
		ref := definitions.Ref{Kind: definitions.KindTemplate, Key: "news"}
		if err := w.db.Bundles().AddDefinitions(t.Context(), w.org, ref.Kind, held); err != nil || len(held.Set.Templates) != 0 || !held.FromGit[ref] || len(held.Broken[ref]) != 2 {
			t.Errorf("%v, %+v", err, held)
		}
		w.define(t, "news", "<p>One</p>")
		w.wantRecord(t, "news", record{Source: "git", Version: commit[:7], Validation: "valid", HTML: "<p>One</p>", Number: 1, Diagnostics: []string{}})
		if diff := cmp.Diff([]string{"news"}, w.undeployed(t)); diff != "" {
			t.Errorf("to deploy: %s", diff)
		}
	})
}

// TestTemplateWithInvalidFiles breaks the files of a template that was valid, corrects them, and takes the
// template out of the repository.
func TestTemplateWithInvalidFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.define(t, "news", "<p>One</p>")
		valid := record{Source: "git", Version: commit[:7], Validation: "valid", HTML: "<p>One</p>", Number: 1, Diagnostics: []string{}}
		invalid := valid
		invalid.Validation, invalid.Diagnostics = "invalid", []string{`"a.hbs" line 1, column 2: The tag is empty.`}
		w.keepInvalid(t, "news", invalid.Diagnostics...)
		w.wantRecord(t, "news", invalid)
		out, err := w.call(t, core.Agent, "templates_render", `{"slug":"news"}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.(templates.RenderedTemplate); got.HTML != "<p>One</p>" || got.Validation != "invalid" || !slices.Equal(got.Diagnostics, invalid.Diagnostics) {
			t.Errorf("rendered %+v", got)
		}
		if sent, err := w.Version(t.Context(), w.org, "news", 0); err != nil || sent.HTML != "<p>One</p>" || sent.Number != 1 {
			t.Errorf("sent %+v, %v", sent, err)
		}
		w.define(t, "news", "<p>One</p>")
		w.wantRecord(t, "news", valid)

		w.keepInvalid(t, "news", "broken")
		w.keepInvalid(t, "never", "broken")
		for _, slug := range []string{"news", "never"} {
			w.own(t, slug, bundles.Owner{Origin: core.ManagedOrigin})
		}
		hash := w.get(t, "news").ContentHash
		w.wantRecord(t, "news", record{Source: "managed", Version: hash[:7], Validation: "valid", HTML: "<p>One</p>", Number: 1, Diagnostics: []string{}})
		never := w.get(t, "never")
		w.wantRecord(t, "never", record{Source: "managed", Version: never.ContentHash[:7], Validation: "invalid", Diagnostics: []string{"broken"}})
		saved, err := w.author(t, "slug", "never", "html", "<p>Now</p>", "base_content_hash", never.ContentHash)
		if err != nil || saved.VersionNumber != 1 {
			t.Fatalf("%+v, %v", saved, err)
		}
		w.wantRecord(t, "never", record{Source: "managed", Version: saved.ContentHash[:7], Validation: "valid", HTML: "<p>Now</p>", Number: 1, Diagnostics: []string{}})
	})
}

// TestCopiesHaveTheirFaults reads a template with faults from the account. A template of the repository
// cannot have its slug.
func TestCopiesHaveTheirFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, html := range []string{"<p>{{#if}}</p>", "<p>Good</p>", "<p>{{#if}}</p>"} {
			w.put(t, sending.Template{Name: "welcome", Subject: "s", HTML: html})
			w.sync(t)
			w.sync(t) // reads the same content again
			want := "invalid"
			if html == "<p>Good</p>" {
				want = "valid"
			}
			if row, detail := w.listed(t, "welcome"), w.get(t, "welcome"); row.Validation != want || detail.Validation != want || (len(detail.Diagnostics) > 0) != (want == "invalid") {
				t.Errorf("%s: %s in the list, %s, %v", html, row.Validation, detail.Validation, detail.Diagnostics)
			}
		}
		err := (templates.Definitions{Config: w.Config}).KeepInvalid(t.Context(), core.Org{ID: w.org, Slug: "acme"}, "welcome", []string{"x"})
		if !core.IsConflict(err) {
			t.Errorf("a template of the repository has the slug of a copy: %v", err)
		}
	})
}
