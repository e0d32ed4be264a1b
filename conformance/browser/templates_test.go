package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// faultyMail has a tag that is not closed, in line 3.
const faultyMail = "<p>Hello {{first_name}}</p>\n<p>One</p>\n<p>{{#if city}}{{city}}</p>\n"

// TestWriteTemplate writes a template with a fault, corrects it, previews and saves it,
// changes it, compares the versions and restores the first one, with and without scripts.
func TestWriteTemplate(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/templates/~new")
		tab.Fill("#slug", "news/first")
		tab.Fill("#subject", "News for {{first_name}}")
		tab.Fill("#html", faultyMail)
		tab.Fill("#testdata", `{"ada": {"first_name": "Ada", "city": "Gent"}}`)
		tab.Submit("form button.primary")
		tab.Expect(http.StatusUnprocessableEntity, "The template has faults", "HTML, line 3, column 4", "is not closed")
		tab.Picture("template-faulty")
		tab.Fill("#html", strings.Replace(faultyMail, "{{city}}", "{{city}}{{/if}}", 1))
		tab.Submit("button[value=check]")
		tab.Expect(http.StatusOK, "News for", "These variables have no value")
		tab.Fill("#html", `<body style="background: #8a4b2a"><p>{{first_name}}</p></body>`)
		tab.Mark("button[value=render]")
		tab.AwaitColour("iframe.preview", "#8a4b2a")
		tab.Fill("#html", strings.Replace(faultyMail, "{{city}}", "{{city}}{{/if}}", 1))
		tab.Submit("form button.primary")
		tab.Expect(http.StatusOK, "The template is saved as a new version", "news/first", "Not yet", "News for Ada")
		tab.ExpectReachable()
		tab.Picture("template-saved")
		tab.Go(s.p.AppURL + "/dashboard/templates/news%2Ffirst?set=")
		tab.Expect(http.StatusOK, "These variables have no value")
		tab.Choose("#set", "ada")
		tab.Submit("form.filters button.primary")
		tab.Submit(".switches a[href*='width=phone']")
		tab.Expect(http.StatusOK, "News for Ada")
		if width := tab.Width("iframe.preview"); width != 375 {
			t.Errorf("the preview on a phone is %v pixels wide", width)
		}
		tab.Submit(".actions a[href$='/edit']")
		tab.Fill("#html", "<p>Hello {{first_name}}</p>\n<p>Two</p>\n")
		tab.Fill("#message", "Shorter")
		tab.Submit("form button.primary")
		tab.Submit(".actions a[href$='/versions']")
		tab.Expect(http.StatusOK, "Version 2", "Shorter", "you")
		tab.Submit("td a[href*='/compare']")
		tab.Expect(http.StatusOK, "Version 1 to version 2", "One", "Two")
		tab.Picture("template-compare")
		tab.Submit("dl a[href$='/versions/1']")
		tab.Submit(".actions a[href$='/restore']")
		tab.Expect(http.StatusOK, "Restore version 1?", "The content of version 1 becomes version 3")
		tab.Submit("form button.primary")
		tab.Expect(http.StatusOK, "The version is restored")
	})
}

// TestTemplatesOfTheDemo opens the pages of the demo's templates: the list, checks with their
// lines in the source, and the keyboard in the editor. A link to a fault selects its place.
func TestTemplatesOfTheDemo(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/templates")
	tab.Expect(http.StatusOK, "harvest-news", "summer-sale", "written here")
	for path, texts := range map[string][]string{
		"/summer-sale": {"first_name", "Version"}, "/summer-sale/source": {"About the whole mail"}, "/harvest-news?set=wholesale&width=phone&background=dark": {"The Roastery, the new harvest is here"},
		"/harvest-news/versions": {"Name the city"}, "/harvest-news/compare?from=1&to=3": {"Added:"}, "/harvest-news/edit": {"Save version 4"},
		"/harvest-news/versions/2": {"List the coffees"}, "/harvest-news/versions/1/restore": {"These are the changes from version 3 to version 1"},
	} {
		tab.Go(s.p.AppURL + "/dashboard/templates" + path)
		tab.Expect(http.StatusOK, texts...)
		tab.Picture("templates" + strings.NewReplacer("/", "-", "?", "-", "&", "-", "=", "-").Replace(path))
		tab.Accessible("#side")
	}
	tab.Go(s.p.AppURL + "/dashboard/templates/harvest-news/edit")
	tab.Mark("input[value=dark]")
	tab.Mark("button[value=render]")
	tab.Picture("templates-editor-dark")
	tab.Go(s.p.AppURL + "/dashboard/templates/summer-sale/edit")
	tab.Mark("#check a[data-line='5']")
	if focused := tab.Focused(); !strings.Contains(focused, "html") {
		t.Errorf("a link to a finding leads to %s", focused)
	}
	if line := tab.SelectedLine("#html"); line != 5 {
		t.Errorf("a link to a finding selects line %v", line)
	}
	for _, step := range []struct{ press, focused string }{{kb.Tab, "html"}, {kb.Escape, "html"}, {kb.Tab, "text"}} {
		tab.Press(step.press)
		if focused := tab.Focused(); !strings.Contains(focused, step.focused) {
			t.Errorf("%q leads to %s, want %s", step.press, focused, step.focused)
		}
	}
}
