package templates_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// TestRender checks escaping by part, derived text, and variables without a value.
func TestRender(t *testing.T) {
	t.Parallel()
	c, err := templates.Compile(sending.Template{
		Subject: "Hello {{name}} & {{company}}",
		HTML:    `<p>Hello {{name}}</p><p><a href="{{url}}">Orders</a>: {{#each orders}}{{this}} {{/each}}{{missing}}</p>`,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, missing, err := c.Render(map[string]any{
		"name": "<b>Ada</b>", "company": "A & B", "url": "javascript:alert(1)", "orders": []any{"1", 2.0},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := composition.Rendered{
		Subject: "Hello <b>Ada</b> & A & B",
		HTML:    `<p>Hello &lt;b&gt;Ada&lt;/b&gt;</p><p><a href="#">Orders</a>: 1 2 </p>`,
	}
	text := got.Text
	got.Text = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(text, "Hello <b>Ada</b>") || !strings.Contains(text, "javascript:alert(1)") {
		t.Errorf("the derived text is %q", text)
	}
	if diff := cmp.Diff([]string{"missing"}, missing); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedTemplates checks the refusals of templates with faults and of data that is too
// much.
func TestRefusedTemplates(t *testing.T) {
	t.Parallel()
	_, err := templates.Compile(sending.Template{Subject: "Hi", HTML: "<p>{{#if a}}</p>\n{{lookup a}}"})
	if e := core.AsError(err); e.Code != core.CodeValidationFailed || !strings.Contains(e.Message, "`html` line 1, column 4") || !strings.Contains(e.Message, "templates_get") {
		t.Errorf("%v", err)
	}
	c, err := templates.Compile(sending.Template{Subject: "Hi", HTML: "<p>{{#each a}}" + strings.Repeat("x", 1000) + "{{/each}}</p>"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Render(map[string]any{"a": make([]any, 10_000)}); core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("%v", err)
	}
}

// people has the data of one contact.
type people map[string]map[string]any

func (p people) MessageData(_ context.Context, _, contactID string) (map[string]any, error) {
	if data := p[contactID]; data != nil {
		return data, nil
	}
	return nil, core.NotFound("contact")
}

// render calls the tool with all scopes.
func render(t *testing.T, w *world, in templates.RenderTemplateIn) (templates.RenderedTemplate, error) {
	t.Helper()
	arguments, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.call(t, core.Agent, "templates_render", string(arguments))
	got, _ := out.(templates.RenderedTemplate)
	return got, err
}

// TestRenderTemplate renders a template of the account with data, for a contact, and with
// reserved names. Values of the contact win over data.
func TestRenderTemplate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.put(t, sending.Template{
			Name: "hello", Subject: "Hello {{name}}\r\nBcc: x", Text: "{{email}} {{city}} {{unsubscribe_url}}", HTML: "<p>" + strings.Repeat("{{name}} – ", 10_000) + "</p>",
		})
		w.sync(t)
		ann := core.NewID()
		w.People = people{ann: {"name": "Ann", "email": "ann@example.com"}}
		got, err := render(t, w, templates.RenderTemplateIn{Slug: "hello", Data: map[string]any{"name": "Data", "city": "Graz"}, ContactID: ann})
		if err != nil {
			t.Fatal(err)
		}
		if got.Subject != "Hello Ann Bcc: x" || got.Text != "ann@example.com Graz https://preview.invalid/unsubscribe" || len(got.Missing) != 0 {
			t.Errorf("%+v", got)
		}
		if !got.Truncated || len(got.HTML) > 32<<10 || !utf8.ValidString(got.HTML) {
			t.Errorf("%d bytes of HTML, truncated %v", len(got.HTML), got.Truncated)
		}
		for field, in := range map[string]templates.RenderTemplateIn{
			"":        {Slug: "hello", ContactID: core.NewID()},
			"profile": {Slug: "hello", Profile: "vip"},
		} {
			_, err := render(t, w, in)
			if e := core.AsError(err); field == "" && e.Code != core.CodeNotFound || field != "" && (e.Code != core.CodeValidationFailed || !strings.Contains(e.Message, field)) {
				t.Errorf("%+v: %v", in, err)
			}
		}
	})
}
