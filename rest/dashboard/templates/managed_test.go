package templates_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
)

// hostile is a text that breaks pages which do not escape it.
const hostile = "</textarea></pre><script>alert(1)</script>\"'&\u202e"

// versions returns the versions of the template news/weekly: saved by the visitor, by an API
// key, and by the operator.
func versions(userID string) []stored.Version {
	all := []stored.Version{
		{Number: 1, Subject: "News", HTML: "<p>Hello {{first_name}}</p>\n<p>One</p>\n<p>{{offer}}</p>\n", SavedBy: stored.Author{Kind: "user", ID: userID, UserID: userID}},
		{Number: 2, Subject: "News " + hostile, HTML: "<p>Hello {{first_name}}</p>\n<p>Two" + hostile + "</p>\n<p>{{offer}}</p>\n", Message: "why " + hostile, SavedBy: stored.Author{Kind: "api_key", ID: "key"}},
		{Number: 3, Subject: "News, {{first_name}}.", HTML: "<p>Hello {{first_name}}</p>\n<p>Three <img src=\"https://example.com/a.png\"></p>\n<p>{{offer}} {{none}}</p>\n", Text: "", SavedBy: stored.Author{Kind: "operator"}},
	}
	for i, v := range all {
		all[i].Hash, all[i].SavedAt = stored.HashOf(sending.Template{Subject: v.Subject, HTML: v.HTML, Text: v.Text}), frametest.Now().Add(-time.Duration(4-i)*time.Hour)
	}
	return all
}

// managed returns the result of templates_get for the template news/weekly.
func managed(v stored.Version) string {
	text := func(value any) string {
		encoded, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(encoded)
	}
	return `{"slug":"news/weekly","name":"news/weekly","subject":` + text(v.Subject) + `,"channel":null,"version":"` + v.Hash[:7] + `","content_hash":"` + v.Hash +
		`","deployed_name":"acme--news--weekly","last_modified_at":"2026-03-12T14:30:00Z","source":"managed","html":` + text(v.HTML) + `,"text":` + text(v.Text) +
		`,"variables":[{"name":"first_name","required":true,"default":null}],"validation_status":"valid","diagnostics":[],"topic":null,"tags":[],` +
		`"version_number":3,"deployed_version":2,"deploy_failure":"The sending account refused the content.","testdata":{"vip":{"first_name":"Ada","offer":"<i>half</i>"},"` + escaped + `":{}}}`
}

// newManaged returns an office with the template news/weekly.
func newManaged(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	all := versions(o.User.ID)
	o.operations.Results["templates_get"] = managed(all[2])
	o.operations.Results["templates_author"] = `{"status":"saved","pull_request_url":null,"pull_request_branch":null,"content_hash":"h","version_number":4,"diagnostics":[],"summary":"Saved as version 4."}`
	o.operations.Results["contacts_lookup"] = `{"id":"55555555-5555-4555-8555-555555555555","email":"ann@example.com","external_id":null,"status":"active","attributes":{},
		"topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}],"unsubscribe_all":false,"mailable":true,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`
	return o
}

const weekly = templates.TemplatesPath + "/news%2Fweekly"

func TestGoldenManaged(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	for name, path := range map[string]string{
		"managed": weekly + "?done=saved", "managed_preview": weekly + "?set=vip&width=phone&background=dark&data=" + url.QueryEscape(`{"none":"<b>"}`),
		"managed_problem": weekly + "?set=no+such+set", "source": weekly + "/source", "versions": weekly + "/versions", "version": weekly + "/versions/2",
		"restore": weekly + "/versions/1/restore", "compare": weekly + "/compare?from=1&to=3", "compare_equal": weekly + "/compare?from=2&to=2",
		"managed_no_set": weekly + "?set=", "edit": weekly + "/edit", "new": templates.TemplatesPath + "/~new", "copy": templates.TemplatesPath + "/~new?from=news%2Fweekly",
	} {
		status, page := frametest.Get(t, o.pages, path)
		if status != http.StatusOK || strings.Contains(page, "page failed") {
			t.Errorf("%s: %d", name, status)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	_, page := o.post("/news/weekly/edit", draft("do", "check", "html", "<p>\r\n{{lookup "+hostile+"}}", "testdata", `{"vip": {]}`))
	frametest.CompareGolden(t, "edit_faulty", page, *update)
	o.Allow(members.MayViewContent)
	_, page = frametest.Get(t, o.pages, weekly+"/versions/1")
	frametest.CompareGolden(t, "version_of_member", page, *update)
}

// post sends a form to a page below that of the list, as a browser does: the path in the
// address is escaped.
func (o *office) post(path string, form url.Values) (int, string) {
	o.T.Helper()
	w := o.send(path, form, "document")
	return w.Code, w.Body.String()
}

// send sends a form for a document or for a frame.
func (o *office) send(path string, form url.Values, into string) *httptest.ResponseRecorder {
	o.T.Helper()
	form.Set("token", o.Site.Visitor.FormToken("dashboard\x00"+templates.TemplatesPath+path))
	escapedPath := templates.TemplatesPath + "/" + strings.Replace(path[1:], "news/weekly", "news%2Fweekly", 1)
	r := httptest.NewRequestWithContext(o.T.Context(), http.MethodPost, escapedPath, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Dest", into)
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, r)
	return w
}

// draft returns the fields of the editor, changed by pairs of names and values.
func draft(changes ...string) url.Values {
	form := url.Values{
		"once": {core.NewID()}, "base": {"base"}, "base_version": {"3"}, "slug": {"news/weekly"}, "subject": {"Hi {{first_name}}"}, "html": {"<p>Hi {{offer}}</p>\r\n"},
		"text": {""}, "testdata": {""}, "message": {""},
	}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

// TestSave creates and changes a template, and checks the calls of templates_author.
func TestSave(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	saved := func(path string, form url.Values, notice string) string {
		t.Helper()
		w := o.send(path, form, "document")
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != weekly+"?done="+notice {
			t.Errorf("%s: %d %s %s", path, w.Code, w.Header().Get("Location"), w.Body)
		}
		for _, call := range o.operations.Calls() {
			if call.Name == "templates_author" {
				return call.Arguments
			}
		}
		t.Errorf("%s saves nothing", path)
		return ""
	}
	want := `{"html":"\u003cp\u003eHi {{offer}}\u003c/p\u003e\n","slug":"news/weekly","subject":"Hi {{first_name}}","testdata":{"a":{"n":1.50}},"text":""}`
	if diff := cmp.Diff(want, saved("/~new", draft("testdata", `{"a":{"n":1.50}}`), "saved")); diff != "" {
		t.Error(diff)
	}
	want = `{"base_content_hash":"base","html":"\u003cp\u003eHi {{offer}}\u003c/p\u003e\n","message":"because","slug":"news/weekly","subject":"Hi {{first_name}}","testdata":{},"text":""}`
	if diff := cmp.Diff(want, saved("/news/weekly/edit", draft("message", "because", "slug", "other"), "saved")); diff != "" {
		t.Error(diff)
	}
	saved("/news/weekly/edit", draft("base_version", "4"), "kept")
	form := url.Values{"once": {core.NewID()}, "base": {"base"}}
	if got := saved("/news/weekly/versions/1/restore", form, "restored"); !strings.Contains(got, `"message":"Restored version 1"`) || !strings.Contains(got, "One") || !strings.Contains(got, `"text":""`) {
		t.Error(got)
	}
	o.operations.Results["templates_author"] = strings.Replace(o.operations.Results["templates_author"], `"version_number":4`, `"version_number":3`, 1)
	saved("/news/weekly/versions/3/restore", url.Values{"once": {core.NewID()}, "base": {"base"}}, "same")
}

// TestRefusedDrafts checks that a refused draft is shown again with what was typed: one with
// faults, one whose test data is no JSON, one of an old version, and one with a slug in use.
func TestRefusedDrafts(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	shown := func(name, path string, form url.Values, status int, texts ...string) {
		t.Helper()
		got, page := o.post(path, form)
		texts = append(texts, "Mine, {{first_name}}.", "my reason", `name="base" value="`)
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q: %s", name, text, page)
			}
		}
		if got != status || strings.Contains(page, "page failed") {
			t.Errorf("%s: %d", name, got)
		}
	}
	mine := []string{"subject", "Mine, {{first_name}}.", "message", "my reason"}
	refuse := func(e *core.Error) { o.operations.Errors = map[string]*core.Error{"templates_author": e} }

	refuse(core.InvalidFields(core.FieldError{Field: "html", Reason: "line 2, column 4: the tag is not closed"}, core.FieldError{Field: "slug", Reason: "is too long"}))
	shown("faults", "/news/weekly/edit", draft(append(mine, "html", "<p>\r\nHi {{oops</p>")...), http.StatusUnprocessableEntity,
		"HTML, line 2, column 10", "Hi {{oops<mark>&lt;</mark>/p&gt;", "The template has faults and is not saved", "The slug is too long.")
	shown("test data", "/~new", draft(append(mine, "testdata", "{\r\n  \"vip\": [1}")...), http.StatusUnprocessableEntity, "Test data, line 2, column", "{\n  &#34;vip&#34;: [1}")
	refuse(core.Conflict("Another.", "Read it."))
	hash := versions(o.User.ID)[2].Hash
	shown("stale", "/news/weekly/edit", draft(append(mine, "base_version", "2")...), http.StatusConflict,
		"Version 3 was saved since you opened this page", `name="base" value="`+hash+`"`, `name="base_version" value="3"`, "Save over version 3",
		"compare?from=2&amp;to=3", "What your text changes in version 3", "the operator", "<mark>Mine</mark>, {{first_name}}.", "&lt;p&gt;Hi {{offer}}")
	refuse(core.Conflict("A template has this slug.", "Choose another slug."))
	shown("a slug in use", "/~new", draft(mine...), http.StatusConflict, "A template has this slug. Choose another slug.")
	if status, page := o.post("/news/weekly/versions/1/restore", url.Values{"once": {core.NewID()}, "base": {"old"}}); status != http.StatusConflict || !strings.Contains(page, "Nothing was restored") {
		t.Errorf("restore: %d %s", status, page)
	}
}

// TestDraftPreview sends drafts into the frame: the answer has the headers of a preview, and
// the mail or what keeps it from being rendered.
func TestDraftPreview(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	for name, tc := range map[string]struct {
		changes []string
		want    string
	}{
		"a set":     {[]string{"set", "vip", "testdata", `{"vip":{"offer":"<i>half</i>"}}`}, "<p>Hi &lt;i&gt;half&lt;/i&gt;</p>\n"},
		"a contact": {[]string{"email", "ann@example.com", "html", "<p>{{first_name}} {{email}}</p>"}, "<p>Ann&lt;b&gt; ann@example.com</p>"},
		"dark":      {[]string{"background", "dark"}, "<p>Hi </p>\n\n<style>:root{color-scheme:dark"},
		"a head":    {[]string{"background", "dark", "html", "<head><title>x</title></head><p>Hi</p>"}, "<head>\n<style>:root{"},
		"a fault":   {[]string{"html", "<p>{{#if a}}"}, "Press Check to see why."},
		"no JSON":   {[]string{"testdata", "{"}, "Press Check to see where."},
	} {
		w := o.send("/news/weekly/edit", draft(append(tc.changes, "do", "render")...), "iframe")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tc.want) || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	if w := o.send("/~new", draft("do", "render", "html", "<p><script>alert(1)</script></p>"), "document"); strings.Contains(w.Body.String(), "<script>alert") || !strings.Contains(w.Body.String(), "New template") {
		t.Errorf("outside of a frame: %s", w.Body)
	}
	for _, call := range o.operations.Calls() {
		if call.Name == "templates_author" {
			t.Error("a preview saves")
		}
	}
}

// TestPreviewData renders a stored template with data of the address. Data of a contact needs
// its permission.
func TestPreviewData(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	in := func(query string) (int, string) { return frametest.Get(t, o.pages, weekly+"/preview?"+query) }
	for query, want := range map[string]string{
		"set=vip": "<p>Hello Ada</p>",
		"set=vip&data=%7B%22first_name%22:%22B%22}": "<p>Hello B</p>",
		"set=vip&contact=" + contactID:              "<p>Hello Ann&lt;b&gt;</p>",
	} {
		if status, page := in(query); status != http.StatusOK || !strings.HasPrefix(page, want) {
			t.Errorf("%s: %d %s", query, status, page)
		}
	}
	for query, want := range map[string]int{"set=x": 422, "data=[]": 422, "contact=x": 404, "contact=" + core.NewID(): 404, "data=" + strings.Repeat("x", 2001): 422} {
		if status, _ := in(query); status != want {
			t.Errorf("%s: %d", query, status)
		}
	}
	if _, page := frametest.Get(t, o.pages, weekly+"?email=ann@example.com"); !strings.Contains(page, "preview?contact="+contactID) || !strings.Contains(page, "News, Ann&lt;b&gt;.") {
		t.Errorf("a contact's address: %s", page)
	}
	o.operations.Errors = map[string]*core.Error{"contacts_lookup": core.NotFound("contact")}
	if status, page := frametest.Get(t, o.pages, weekly+"?email=x@example.com"); status != http.StatusOK || !strings.Contains(page, "The address is the address of no contact.") {
		t.Errorf("an unknown address: %d %s", status, page)
	}
	o.operations.Errors = nil
	o.Allow(members.MayViewContent)
	if status, page := in("contact=" + contactID); status != http.StatusForbidden || strings.Contains(page, "Ann") {
		t.Errorf("without the permission: %d %s", status, page)
	}
	if status, page := frametest.Get(t, o.pages, weekly+"?email=ann@example.com"); status != http.StatusForbidden || strings.Contains(page, "Ann") {
		t.Errorf("without the permission: %d %s", status, page)
	}
}

// TestWritingNeedsPermission checks that pages that change templates refuse visitors without
// the permission, and organizations whose templates come from a repository.
func TestWritingNeedsPermission(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	forms := []string{"/~new", "/news/weekly/edit", "/news/weekly/versions/1/restore"}
	refused := func(want int) {
		t.Helper()
		for _, path := range forms {
			if status, _ := o.post(path, draft()); status != want {
				t.Errorf("form of %s: %d", path, status)
			}
			if status, _ := frametest.Get(t, o.pages, templates.TemplatesPath+"/"+strings.Replace(path[1:], "news/", "news%2F", 1)); status != want {
				t.Errorf("page of %s: %d", path, status)
			}
		}
		for _, call := range o.operations.Calls() {
			if call.Name == "templates_author" {
				t.Error("a refused form saves")
			}
		}
	}
	o.Site.Visitor.Org.GitConnected = true
	refused(http.StatusConflict)
	o.Site.Visitor.Org.GitConnected = false
	o.operations.Results["templates_get"] = templateDetail
	forms = forms[1:2]
	refused(http.StatusConflict) // a template of the sending account
	forms = []string{"/~new", "/news/weekly/edit", "/news/weekly/versions/1/restore"}
	o.Allow(members.MayViewContent)
	refused(http.StatusForbidden)
	for _, path := range []string{weekly + "/versions/0", weekly + "/versions/9", weekly + "/compare?from=1", weekly + "/compare?from=1&to=9"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}
