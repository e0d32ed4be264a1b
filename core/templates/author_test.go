package templates_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// author saves a template. The arguments come in pairs: a name and its value.
func (w *world) author(t *testing.T, arguments ...any) (templates.AuthoredTemplate, error) {
	t.Helper()
	object := map[string]any{}
	for i := 0; i < len(arguments); i += 2 {
		object[arguments[i].(string)] = arguments[i+1]
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.call(t, core.Agent, "templates_author", string(text))
	if err != nil {
		return templates.AuthoredTemplate{}, err
	}
	return out.(templates.AuthoredTemplate), nil
}

// TestAuthor saves versions of a template, repeats a save, and saves over a version that
// another call has replaced.
func TestAuthor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		save := func(arguments ...any) templates.AuthoredTemplate {
			t.Helper()
			out, err := w.author(t, append([]any{"slug", "news/weekly"}, arguments...)...)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		first := save("html", "<p>One {{frist_name}}</p>", "message", "start", "testdata", map[string]any{"ada": map[string]any{"offer": 1}})
		if first.VersionNumber != 1 || first.Status != "saved" || first.PullRequestURL != nil || !strings.Contains(first.Summary, "version 1") {
			t.Errorf("%+v", first)
		}
		var codes []string
		for _, d := range first.Diagnostics {
			codes = append(codes, d.Code)
			if d.Code == "unknown_variable" && (!strings.Contains(d.Message, "first_name") || d.Line != 1) {
				t.Errorf("%+v", d)
			}
		}
		if !strings.Contains(strings.Join(codes, " "), "unknown_variable") {
			t.Errorf("diagnostics %v", codes)
		}
		again := save("html", "<p>One {{frist_name}}</p>", "base_content_hash", "of a version before")
		if again.VersionNumber != 1 || again.ContentHash != first.ContentHash || !strings.HasPrefix(again.Summary, "Nothing changed") {
			t.Errorf("the same content again: %+v", again)
		}
		second := save("html", "<p>Two {{offer}}</p>", "subject", "Offer {{offer}}", "text", "Two", "base_content_hash", first.ContentHash)
		for _, d := range second.Diagnostics {
			if d.Code == "unknown_variable" {
				t.Errorf("a variable of the test data: %+v", d)
			}
		}
		third := save("html", "<p>Three</p>", "base_content_hash", second.ContentHash)
		got, err := w.managed.ManagedBySlug(t.Context(), w.org, "news/weekly")
		if err != nil {
			t.Fatal(err)
		}
		want := templates.ManagedTemplate{
			ID: got.ID, Slug: "news/weekly", DeployedName: "acme--news--weekly", TestData: `{"ada":{"offer":1}}`, CreatedAt: w.now,
			Newest: templates.Version{
				Number: 3, Subject: "Offer {{offer}}", HTML: "<p>Three</p>", Text: "Two", Hash: third.ContentHash,
				SavedBy: templates.Author{Kind: "oauth_client", ID: "client"}, SavedAt: w.now,
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		data := save("html", "<p>Three</p>", "testdata", map[string]any{}, "base_content_hash", third.ContentHash)
		if got, _ := w.managed.ManagedBySlug(t.Context(), w.org, "news/weekly"); got.TestData != "{}" || data.VersionNumber != 3 || !strings.HasPrefix(data.Summary, "Replaced the test data") {
			t.Errorf("test data %s: %+v", got.TestData, data)
		}
	})
}

// TestStaleAuthoring changes content that another version has replaced, and content that the
// call does not name.
func TestStaleAuthoring(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, err := w.author(t, "slug", "n", "html", "<p>1</p>")
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.author(t, "slug", "n", "html", "<p>2</p>", "base_content_hash", first.ContentHash)
		if err != nil {
			t.Fatal(err)
		}
		for base, named := range map[string]string{first.ContentHash: first.ContentHash, "": "absent"} {
			arguments := []any{"slug", "n", "html", "<p>3</p>"}
			if base != "" {
				arguments = append(arguments, "base_content_hash", base)
			}
			_, err := w.author(t, arguments...)
			e := core.AsError(err)
			if e.Code != core.CodeStaleContentHash || !strings.Contains(e.Message, second.ContentHash) || !strings.Contains(e.Message, named) || !strings.Contains(e.NextStep(), "Read the template again") {
				t.Errorf("base %q: %v", base, err)
			}
			if e.Extra["content_hash"] != second.ContentHash {
				t.Errorf("base %q: %v", base, e.Extra)
			}
		}
		if _, err := w.call(t, core.REST, "templates_author", `{"slug":"n","html":"<p>3</p>"}`); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("over REST: %v", err)
		}
	})
}

// TestRefusedAuthoring checks what is refused, and that a refusal stores nothing.
func TestRefusedAuthoring(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{Name: "Copy", Subject: "Hello"})
		w.sync(t)
		if _, err := w.author(t, "slug", "a/b", "html", "<p>x</p>"); err != nil {
			t.Fatal(err)
		}
		many := map[string]any{"a": map[string]any{"text": strings.Repeat("x", 70_000)}}
		for name, tc := range map[string]struct {
			code      core.Code
			says      string
			arguments []any
		}{
			"a slug in upper case":      {core.CodeValidationFailed, "slug", []any{"slug", "News", "html", "<p>x</p>"}},
			"an empty part":             {core.CodeValidationFailed, "slug", []any{"slug", "a//b", "html", "<p>x</p>"}},
			"a long name":               {core.CodeValidationFailed, "has 66 characters; at most 64", []any{"slug", strings.Repeat("a", 60), "html", "<p>x</p>"}},
			"faults":                    {core.CodeValidationFailed, "`html` line 2, column 5", []any{"slug", "n", "html", "<p>\n  {{lookup a}}{{#if b}}</p>"}},
			"a fault of the subject":    {core.CodeValidationFailed, "`subject` line 1, column 4", []any{"slug", "n", "html", "<p>x</p>", "subject", "Hi {{"}},
			"two lines of subject":      {core.CodeValidationFailed, "`subject` must be one line", []any{"slug", "n", "html", "<p>x</p>", "subject", "a\nb"}},
			"no tag":                    {core.CodeValidationFailed, "has no HTML tag", []any{"slug", "n", "html", "Hello {{name}} <!-- <p> --> {{! <p> }}"}},
			"too long":                  {core.CodeValidationFailed, "500", []any{"slug", "n", "html", "<p>" + strings.Repeat("ü", 250_000)}},
			"too long together":         {core.CodeValidationFailed, "together", []any{"slug", "n", "html", "<p>" + strings.Repeat("x", 300_000), "text", strings.Repeat("y", 300_000)}},
			"test data that is no set":  {core.CodeValidationFailed, `"first_name"`, []any{"slug", "n", "html", "<p>x</p>", "testdata", map[string]any{"first_name": "Ada"}}},
			"too much test data":        {core.CodeValidationFailed, "65536", []any{"slug", "n", "html", "<p>x</p>", "testdata", many}},
			"a base that is no content": {core.CodeStaleContentHash, `"abc"`, []any{"slug", "n", "html", "<p>x</p>", "base_content_hash", "abc"}},
			"a template of the account": {core.CodeConflict, "template of its own", []any{"slug", "copy", "html", "<p>x</p>"}},
			"the name of another":       {core.CodeConflict, "deployed name", []any{"slug", "a--b", "html", "<p>x</p>"}},
		} {
			_, err := w.author(t, tc.arguments...)
			if e := core.AsError(err); err == nil || e.Code != tc.code || !strings.Contains(e.Message, tc.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		names, err := w.managed.ManagedNames(t.Context(), w.org)
		if diff := cmp.Diff([]string{"acme--a--b"}, names); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// TestRaceOfAuthors saves two changes of one version: the second is refused by the store.
func TestRaceOfAuthors(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		first, err := w.author(t, "slug", "n", "html", "<p>1</p>")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := w.managed.ManagedBySlug(t.Context(), w.org, "n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.author(t, "slug", "n", "html", "<p>2</p>", "base_content_hash", first.ContentHash); err != nil {
			t.Fatal(err)
		}
		stored.Newest.Number, stored.Newest.Hash = 2, "other"
		if err := w.managed.AddVersion(t.Context(), w.org, first.ContentHash, stored); !core.IsConflict(err) {
			t.Errorf("a change of a replaced version: %v", err)
		}
	})
}

// TestDeployedNames checks the names of templates in the account.
func TestDeployedNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("o", 63)
	for of, want := range map[[2]string]string{
		{"acme", "news/weekly_1"}: "acme--news--weekly_1",
		{"acme", "a b/ü"}:         "acme--ab--",
		{long, "news"}:            "ooooooooooooooooooooooo-" + "5644a173" + "--news",
	} {
		if got := templates.DeployedName(of[0], of[1]); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
	if templates.DeployedName(long, "n") == templates.DeployedName(long[1:]+"p", "n") {
		t.Error("two organizations have the same name")
	}
}
