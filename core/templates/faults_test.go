package templates_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/templates"
)

// TestReview checks that a draft has the faults that a save refuses, with their lines and
// columns, and the diagnostics of a save.
func TestReview(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		draft := templates.Draft{
			Subject: "Hi {{\nthere", HTML: "<p>\n  {{lookup a}}{{frist_name}}</p>", Text: strings.Repeat("x", 500_001), TestData: map[string]any{"ada": 1},
		}
		got, err := w.Review(t.Context(), w.org, draft)
		if err != nil {
			t.Fatal(err)
		}
		var places []string
		for _, f := range got.Faults {
			places = append(places, fmt.Sprintf("%s %d %d", f.Part, f.Line, f.Column))
		}
		if diff := cmp.Diff([]string{"subject 1 4", "html 2 5", "text 0 0", "subject 0 0", "testdata 0 0"}, places); diff != "" {
			t.Error(diff)
		}
		_, err = w.author(t, "slug", "n", "html", draft.HTML, "subject", draft.Subject, "testdata", draft.TestData)
		for _, f := range got.Faults {
			if f.Part != "text" && !strings.Contains(fmt.Sprint(core.AsError(err).Fields), f.Message) {
				t.Errorf("a save does not refuse %+v: %v", f, err)
			}
		}
		draft = templates.Draft{Subject: "Hi", HTML: "<p>{{frist_name}} {{offer}}</p>", TestData: map[string]any{"ada": map[string]any{"offer": 1}}}
		if got, err = w.Review(t.Context(), w.org, draft); err != nil || len(got.Faults) != 0 || len(got.Variables) != 2 {
			t.Errorf("%+v, %v", got, err)
		}
		saved, err := w.author(t, "slug", "n", "html", draft.HTML, "subject", draft.Subject, "testdata", draft.TestData)
		if diff := cmp.Diff(saved.Diagnostics, got.Diagnostics); diff != "" || err != nil || len(got.Diagnostics) == 0 {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// TestPreview renders drafts with a set of test data, with values and for a contact. Each
// wins over those before it.
func TestPreview(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ann := core.NewID()
		w.People = people{ann: {"city": "Graz"}}
		draft := templates.Draft{
			Subject: "{{name}}\n", HTML: "<p>{{name}} {{city}} {{offer}} {{none}} {{unsubscribe_url}}</p>",
			TestData: map[string]any{"vip": map[string]any{"name": "Set", "city": "Set", "offer": "Set"}},
		}
		got, err := w.Preview(t.Context(), w.org, draft, templates.PreviewData{Profile: "vip", Values: map[string]any{"name": "<Ada>", "city": "Linz"}, ContactID: ann})
		want := templates.Preview{
			Rendered: composition.Rendered{
				Subject: "<Ada>", HTML: "<p>&lt;Ada&gt; Graz Set  https://preview.invalid/unsubscribe</p>",
				Text: "<Ada> Graz Set  https://preview.invalid/unsubscribe",
			},
			Missing: []string{"none"}, DerivedText: true,
		}
		want.Text = got.Text // derived as TestRender shows
		if diff := cmp.Diff(want, got); diff != "" || err != nil || !strings.Contains(got.Text, "<Ada> Graz") {
			t.Errorf("%v %s", err, diff)
		}
		w.PreviewImage = func(_ context.Context, _, path string) (string, error) {
			return map[string]string{"static/logo.png": "data:image/png;base64,AAAA"}[path], nil
		}
		shown := templates.Draft{Subject: "Hi", HTML: `<img src="{{asset "static/logo.png"}}"><img src="./static/logo.png"><img src="static/other.png">{{name}}`}
		got, err = w.Preview(t.Context(), w.org, shown, templates.PreviewData{Values: map[string]any{"name": "static/logo.png"}})
		const image = `<img src="data:image/png;base64,AAAA"`
		if err != nil || strings.Count(got.HTML, image) != 2 || !strings.Contains(got.HTML, `src="static/other.png"`) || !strings.HasSuffix(got.HTML, "static/logo.png") {
			t.Errorf("%v\n%s", err, got.HTML)
		}
		w.PreviewImage = nil
		faulty := draft
		faulty.HTML = "{{#if a}}"
		broken := draft
		broken.TestData = map[string]any{"vip": 1}
		for name, tc := range map[string]struct {
			draft templates.Draft
			with  templates.PreviewData
			code  core.Code
		}{
			"an unknown set":     {draft, templates.PreviewData{Profile: "x"}, core.CodeValidationFailed},
			"an unknown contact": {draft, templates.PreviewData{ContactID: core.NewID()}, core.CodeNotFound},
			"a fault":            {faulty, templates.PreviewData{}, core.CodeValidationFailed},
			"broken test data":   {broken, templates.PreviewData{}, core.CodeValidationFailed},
		} {
			if _, err := w.Preview(t.Context(), w.org, tc.draft, tc.with); core.AsError(err).Code != tc.code {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestHistory reads the versions of a template page by page.
func TestHistory(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		hash := ""
		for i := range 3 {
			arguments := []any{"slug", "n", "html", fmt.Sprintf("<p>%d</p>", i+1)}
			if hash != "" {
				arguments = append(arguments, "base_content_hash", hash)
			}
			out, err := w.author(t, arguments...)
			if err != nil {
				t.Fatal(err)
			}
			hash = out.ContentHash
		}
		var pages []string
		for before := 0; ; {
			versions, next, err := w.History(t.Context(), w.org, "n", before, 2)
			if err != nil {
				t.Fatal(err)
			}
			page := ""
			for _, v := range versions {
				page += fmt.Sprint(v.Number)
			}
			pages = append(pages, page)
			if before = next; next == 0 {
				break
			}
		}
		if diff := cmp.Diff([]string{"32", "1"}, pages); diff != "" {
			t.Error(diff)
		}
		if _, _, err := w.History(t.Context(), w.org, "none", 0, 2); !core.IsNotFound(err) {
			t.Error(err)
		}
	})
}
