package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/members"
)

// editPath is the editor of the template of these tests. Its slug is news/weekly.
const editPath = "/dashboard/templates/news%2Fweekly/edit"

// previewFrame matches the address of a preview.
var previewFrame = regexp.MustCompile(`<iframe class="preview[^"]*" src="([^"]*)"`)

// TestTemplateVersions writes a template with a fault, corrects and saves it, previews it for
// a contact, changes it, compares the versions and restores the first.
func TestTemplateVersions(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		b := owner(t, p)
		page := b.open("/dashboard/templates/~new")
		form := b.form(page, "/dashboard/templates/~new")
		form.Set("slug", "news/weekly")
		form.Set("subject", "News for {{email}}")
		form.Set("html", "<p>Hello</p>\r\n<p>{{#if email}}{{email}}</p>\r\n")
		status, _, page := b.send("/dashboard/templates/~new", form)
		if status != http.StatusUnprocessableEntity {
			t.Fatalf("a template with a fault: %d %s", status, page)
		}
		b.wants(page, "HTML, line 2, column 4", "&lt;p&gt;Hello&lt;/p&gt;", "The template has faults")
		page = b.submit(strings.ReplaceAll(page, "&lt;p&gt;{{#if email}}{{email}}", "&lt;p&gt;{{#if email}}{{email}}{{/if}}"), "/dashboard/templates/~new", unchanged)
		b.wants(page, "The template is saved as a new version", "News for")
		b.wants(page, "news/weekly")

		page = b.open("/dashboard/templates/news%2Fweekly?width=phone&email=" + url.QueryEscape(p.Contact))
		b.wants(page, "News for "+p.Contact, `class="preview phone"`)
		_, _, mail := b.send(b.mustFind(page, previewFrame), nil)
		b.wants(mail, "<p>Hello</p>\n<p>"+p.Contact+"</p>\n")

		page = b.submit(b.open(editPath), editPath, func(form url.Values) {
			form.Set("html", strings.Replace(form.Get("html"), "Hello", "Welcome", 1))
			form.Set("message", "Friendlier")
		})
		b.wants(page, "The template is saved as a new version")
		b.wants(b.open("/dashboard/templates/news%2Fweekly/versions"), "Version 2", "Friendlier", "you", "/compare?from=1&amp;to=2")
		b.wants(b.open("/dashboard/templates/news%2Fweekly/compare?from=1&to=2"), "&lt;p&gt;<mark>Hello</mark>&lt;/p&gt;", "&lt;p&gt;<mark>Welcome</mark>&lt;/p&gt;")
		restore := "/dashboard/templates/news%2Fweekly/versions/1/restore"
		page = b.submit(b.open(restore), restore, unchanged)
		b.wants(page, "The version is restored")
		b.wants(b.open("/dashboard/templates/news%2Fweekly/versions"), "Version 3", "Restored version 1")
		if lines := audited(t, p); lines["templates_author"] != 3 {
			t.Errorf("audit log: %v", lines)
		}
	})
}

// TestStaleTemplate saves a template over the change of another person: the save is refused
// with what both wrote, and a second save, which has seen the change, succeeds.
func TestStaleTemplate(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		b := owner(t, p)
		b.submit(b.open("/dashboard/templates/~new"), "/dashboard/templates/~new", func(form url.Values) {
			form.Set("slug", "news/weekly")
			form.Set("subject", "News")
			form.Set("html", "<p>One</p>\n")
		})
		person(t, p, "grace", members.PlainMember, members.MayViewContent, members.MayManageContent)
		grace := newBrowser(t, p)
		grace.signIn("grace@example.com", personPassword)
		mine := b.form(b.open(editPath), editPath)
		grace.submit(grace.open(editPath), editPath, func(form url.Values) { form.Set("html", "<p>Hers</p>\n") })
		mine.Set("html", "<p>Mine</p>\n")
		status, _, page := b.send(editPath, mine)
		if status != http.StatusConflict {
			t.Fatalf("a stale save: %d %s", status, page)
		}
		b.wants(page, "Version 2 was saved since you opened this page", "grace", "&lt;p&gt;<mark>Hers</mark>", "&lt;p&gt;<mark>Mine</mark>", "from=1&amp;to=2", "Save over version 2")
		b.wants(b.open("/dashboard/templates/news%2Fweekly/versions"), "Version 2")
		b.wants(b.submit(page, editPath, unchanged), "The template is saved as a new version")
		b.wants(b.open("/dashboard/templates/news%2Fweekly/compare?from=2&to=3"), "&lt;p&gt;<mark>Mine</mark>")
	})
}

// TestLargeTemplate saves a template of 400 KB with many lines and reads its pages.
func TestLargeTemplate(t *testing.T) {
	t.Parallel()
	product.Once(t, saveLargeTemplate)
}

func saveLargeTemplate(t *testing.T, p *product.Product) {
	t.Helper()
	b := owner(t, p)
	b.submit(b.open("/dashboard/templates/~new"), "/dashboard/templates/~new", func(form url.Values) {
		form.Set("slug", "news/weekly")
		form.Set("html", "<p>One</p>\n")
		form.Set("subject", "News")
	})
	page := b.submit(b.open(editPath), editPath, func(form url.Values) { form.Set("html", strings.Repeat("<p>ä</p>\r\n", 40_000)) })
	b.wants(page, "The template is saved as a new version", "Gmail cuts mail off")
	b.wants(b.open("/dashboard/templates/news%2Fweekly/source"), "35000 more lines are not shown")
	b.wants(b.open("/dashboard/templates/news%2Fweekly/compare?from=1&to=2"), "more changed lines are not shown")
	b.wants(b.open(editPath), "Save version 3")
	form := b.form(b.open(editPath), editPath)
	form.Set("html", strings.Repeat("<p>x</p>", 100_000))
	if status, _, page := b.send(editPath, form); status != http.StatusUnprocessableEntity || !strings.Contains(page, "500") {
		t.Errorf("a template of 800 KB: %d %.2000s", status, page)
	}
}
