package templates_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// allSettings has every setting.
func allSettings() mailsettings.Settings {
	return mailsettings.Settings{Language: "de", UnsubscribeFooter: true, PostalAddress: "Orchard & <b>Sons</b>\nMain St 1, Graz", AssetBaseURL: "https://cdn.example/m"}
}

const (
	unsubscribeHTML = `<p lang="de" style="font-size:12px;line-height:18px;text-align:center"><a href="{{unsubscribe_url}}" style="color:inherit">Abmelden</a></p>`
	addressHTML     = `<p style="font-size:12px;line-height:18px;text-align:center">Orchard &amp; &lt;b&gt;Sons&lt;/b&gt;<br>Main St 1, Graz</p>`
	addressText     = "Orchard & <b>Sons</b>\nMain St 1, Graz\n"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content, want sending.Template
		settings      mailsettings.Settings
	}{
		"everything": {
			settings: allSettings(),
			content: sending.Template{
				Name: "n", Subject: "S {{x}}", Text: `Hi {{x}} {{asset "a b.txt"}}`,
				HTML: `<html><head><style>p{margin:0}</style></head><body><p>Hi {{x}} <img src="./img/a b.png"><img src="{{asset "ü/b.png"}}"></p></body></html>`,
			},
			want: sending.Template{
				Name: "n", Subject: "S {{x}}",
				Text: "Hi {{x}} https://cdn.example/m/a%20b.txt\n\nAbmelden: {{unsubscribe_url}}\n\n" + addressText,
				HTML: `<html><head></head><body><p style="margin:0">Hi {{x}} <img src="https://cdn.example/m/img/a%20b.png"><img src="https://cdn.example/m/%C3%BC/b.png"></p>` +
					strings.NewReplacer(`style="font`, `style="margin:0;font`).Replace(unsubscribeHTML+addressHTML) + `</body></html>`,
			},
		},
		"nothing to add": {
			settings: allSettings(),
			content: sending.Template{
				HTML: `<p><a href="{{preferences_url}}">x</a> orchard &amp; &lt;b&gt;Sons&lt;/b&gt; <i>Main st 1,</i> Graz <img src="/a"><img src="https://x/y"><img src="cid:1"><img src="../a"><img src="a/../b"><img src="//x/y"><img src="{{x}}">{{asset "../x"}}</p>`,
				Text: "{{unsubscribe_url}} ORCHARD & <b>SONS</b> Main St\n 1, Graz",
			},
			want: sending.Template{
				HTML: `<p><a href="{{preferences_url}}">x</a> orchard &amp; &lt;b&gt;Sons&lt;/b&gt; <i>Main st 1,</i> Graz <img src="/a"><img src="https://x/y"><img src="cid:1"><img src="../a"><img src="a/../b"><img src="//x/y"><img src="{{x}}">{{asset "../x"}}</p>`,
				Text: "{{unsubscribe_url}} ORCHARD & <b>SONS</b> Main St\n 1, Graz",
			},
		},
		"no settings, no text": {
			content: sending.Template{HTML: `<p>Hi {{x}} <img src="a.png" alt="A"></p>`},
			want:    sending.Template{HTML: `<p>Hi {{x}} <img src="a.png" alt="A"></p>`, Text: "Hi {{x}} A\n"},
		},
		"text only": {
			settings: mailsettings.Default(),
			content:  sending.Template{Text: "Hi\n\n"},
			want:     sending.Template{Text: "Hi\n\nUnsubscribe: {{unsubscribe_url}}\n"},
		},
		"an open comment": {
			settings: mailsettings.Settings{Language: "de", UnsubscribeFooter: true},
			content:  sending.Template{HTML: `<p>x</p><!-- `, Text: "x {{unsubscribe_url}}"},
			want:     sending.Template{HTML: unsubscribeHTML + `<p>x</p><!-- `, Text: "x {{unsubscribe_url}}"},
		},
		"faults": {
			settings: allSettings(),
			content:  sending.Template{HTML: `<p>{{#if x}}</p>`, Text: "{{#if x}}"},
			want:     sending.Template{HTML: `<p>{{#if x}}</p>`, Text: "{{#if x}}"},
		},
		"an unknown language and tags in the address": {
			settings: mailsettings.Settings{Language: "sv", UnsubscribeFooter: true, PostalAddress: "{{{name}}}"},
			content:  sending.Template{Text: "x"},
			want:     sending.Template{Text: "x\n\nUnsubscribe: {{unsubscribe_url}}\n\nname\n"},
		},
	} {
		got := templates.Finish(tc.content, tc.settings)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if again := templates.Finish(got, tc.settings); again != got {
			t.Errorf("%s, finished twice: %s", name, cmp.Diff(got, again))
		}
	}
}

// TestFinishLongContent checks that long content gets its footer, and is then refused.
func TestFinishLongContent(t *testing.T) {
	t.Parallel()
	long := sending.Template{Subject: "s", HTML: "<p>" + strings.Repeat("x", handlebars.MaxSource-10), Text: "x"}
	got := templates.Finish(long, mailsettings.Default())
	if !strings.Contains(got.HTML, "{{unsubscribe_url}}") || templates.Finish(got, mailsettings.Default()) != got {
		t.Errorf("%d bytes", len(got.HTML))
	}
	if _, err := templates.Compile(got); err == nil {
		t.Error("the content is compiled")
	}
}

// pieces are parts of templates, from which tests compose content.
var pieces = []string{
	"<html>", "<head>", "<style>*{display:none}p{color:red}br{margin:0}</style>", "<style>p+p{margin:0}a{color:blue !important}</style>", "</head>", "<body>", "</body>", "</html>",
	"<p>", "</p>", "<div hidden>", "</div>", "<table><tr><td>", "</td></tr></table>", "text ", "Graz ", "Main St 1, Graz", "&amp;", "<br>", "<!-- c -->", "<!--", "<script>", "</script>",
	"<title>", "<a href=\"", "\">", "'", "{{x}}", "{{{x}}}", "{{#if x}}", "{{else}}", "{{/if}}", "{{#each y}}", "{{/each}}", `{{asset "a.png"}}`, `{{~asset "../b"~}}`, `<img src="a.png">`,
	"<img src=b.png alt=x>", "<img src='{{asset \"c\"}}'>", "{{unsubscribe_url}}", `<a href="{{unsubscribe_url}}">`, "</a>", "{{preferences_url}}", "{{#if preferences_url}}", "\\", "\n", "{{> p}}", "{{!-- c --}}", "<pre>", "</pre>", "\u00a0", "{", "}",
}

// TestFinishProperties finishes random content: finishing again changes nothing, valid
// content stays valid, and each part of valid content has a link to unsubscribe.
func TestFinishProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	compose := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	valid := 0
	for range 6000 {
		content, settings := sending.Template{Subject: "s", HTML: compose()}, allSettings()
		if r.IntN(2) == 0 {
			content.Text = compose()
		}
		settings.UnsubscribeFooter = r.IntN(4) > 0
		if r.IntN(4) == 0 {
			settings.AssetBaseURL, settings.PostalAddress = "", ""
		}
		got := templates.Finish(content, settings)
		if again := templates.Finish(got, settings); again != got {
			t.Fatalf("%+v, finished twice: %s", content, cmp.Diff(got, again))
		}
		if _, err := templates.Compile(content); err != nil {
			continue
		}
		valid++
		if _, err := templates.Compile(got); err != nil {
			t.Fatalf("%+v becomes invalid: %v\n%+v", content, err, got)
		}
		for _, part := range []string{got.HTML, got.Text} {
			if settings.UnsubscribeFooter && part != "" && !strings.Contains(part, "{{unsubscribe_url}}") && !strings.Contains(part, "{{preferences_url}}") {
				t.Fatalf("%+v has no link to unsubscribe: %+v", content, got)
			}
		}
	}
	if valid < 500 {
		t.Errorf("only %d of the contents are valid", valid)
	}
}
