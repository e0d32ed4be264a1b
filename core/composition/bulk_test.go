package composition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TestBulkIsLikeMessages fills in the template of a bulk message as an account does. The result
// is the message that the recipient gets without a bulk.
func TestBulkIsLikeMessages(t *testing.T) {
	t.Parallel()
	content := composition.Content{
		Subject: "News for {{name}}\n", From: "Acme <news@acme.example>", Channel: "marketing", Template: "acme--news",
		HTML: `<p style="a{b:c}">Dear {{name}}, {{{name}}}</p>{{#each items}}<b>{{this}}</b>{{else}}none{{/each}}<a href="{{unsubscribe_url}}">Unsubscribe</a>{{#if plan}}{{plan}}{{/if}}`,
		Data: map[string]any{"items": []any{"one", "<two>"}, "plan": "free"},
	}
	mail, err := content.Compile()
	if err != nil {
		t.Fatal(err)
	}
	bulk, ok := mail.Bulk()
	if !ok {
		t.Fatal("the mail has no bulk form")
	}
	for _, name := range []string{"Ada", "", `<b>"O'Neill"</b> & \ {{name}}`, "two\r\nlines", "Größe 🙂"} {
		to := composition.Recipient{Email: "ada@example.org", Attributes: map[string]any{"name": name}, Links: composition.Links{
			Unsubscribe: "https://acme.example/u/1", Headers: []sending.Header{{Name: "List-Unsubscribe", Value: "<https://acme.example/u/1>"}},
		}}
		want, err := mail.Message(to)
		if err != nil {
			t.Fatal(err)
		}
		recipient, subject, err := mail.BulkRecipient(to)
		if err != nil || subject != want.Content.Subject {
			t.Errorf("the subject %q, %v", subject, err)
		}
		got := sending.Message{Envelope: bulk.Envelope, To: []string{recipient.To}, Content: filled(t, bulk.Inline, recipient.Data)}
		got.Headers = recipient.Headers
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-message +bulk):\n%s", name, diff)
		}
	}
}

// filled replaces the variables of a template, all at once, without escaping values.
func filled(t *testing.T, template sending.InlineTemplate, data string) sending.Content {
	t.Helper()
	var values map[string]string
	if err := json.Unmarshal([]byte(data), &values); err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{{"+name+"}}", value)
	}
	fill := strings.NewReplacer(pairs...).Replace
	content := sending.Content{Subject: fill(template.Subject), HTML: fill(template.HTML), Text: fill(template.Text)}
	if strings.Contains(content.HTML, "{{html") {
		t.Errorf("a variable has no value: %q", content.HTML)
	}
	return content
}

// TestBracesHaveNoBulk checks that a mail has no bulk form if its fixed text could be read as a
// part of a variable.
func TestBracesHaveNoBulk(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]bool{
		"<p>{{a}}</p>": true, "<style>@media all{p{color:red}}</style>{{a}}": true, `\{{a}}`: false, "{ {{a}}": true,
		`<p>\\{{a}}</p>`: false, "<p>no variable</p>": true,
	} {
		mail, err := composition.Content{Subject: "News", HTML: html, Text: "News"}.Compile()
		if err != nil {
			t.Errorf("%s: %v", html, err)
			continue
		}
		if _, ok := mail.Bulk(); ok != want {
			t.Errorf("%s has a bulk form: %v, want %v", html, ok, want)
		}
	}
}
