package mailhtml_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailhtml"
)

// TestWithPreview checks where the preview text of a mail is, and that it is text.
func TestWithPreview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, preview, before, has, after string }{
		"in the body": {`<html><body class="a>b"><p>x</p></body></html>`, `News & more for {{name}}`, `<html><body class="a>b"><div `, `News &amp; more for {{name}}</div>`, `<p>x</p></body></html>`},
		"no body":     {`<p>x</p>`, `<b>{{#if a}}<{{/if}}`, `<div `, `&lt;b&gt;{{#if a}}&lt;{{/if}}</div>`, `<p>x</p>`},
		"none":        {`<p>x</p>`, ``, ``, ``, `<p>x</p>`},
	} {
		got := mailhtml.WithPreview(c.source, c.preview)
		if !strings.HasPrefix(got, c.before) || !strings.Contains(got, c.has) || !strings.HasSuffix(got, c.after) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
