package templates_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// escaped is the JSON of a text that breaks pages which do not escape it, and that reorders
// the text around it.
const escaped = `<\/pre><script>alert(1)<\/script>\"'&\u202e`

// welcome has the JSON members of a template, as both operations return it.
const welcome = `"slug":"welcome-1","name":"` + escaped + `","subject":"Hello {{name}} ` + escaped + `","channel":null,"version":"abc1234","content_hash":"abc1234567","deployed_name":"` + escaped + `","last_modified_at":"2026-03-12T14:30:00Z","source":"import","validation_status":"invalid"`

const templateDetail = `{` + welcome + `,"html":"<p>` + escaped + `</p>","text":"Hi {{name}}","variables":[{"name":"name","required":true,"default":null},{"name":"city","required":false,"default":null}],` +
	`"diagnostics":["` + "`html`" + ` leaves a block open."],"topic":null,"tags":["` + escaped + `"],` +
	`"version_number":0,"deployed_version":null,"deploy_failure":null,"testdata":{}}`

// copies has prepared reads. Drafts are reviewed and rendered by core/templates.
type copies struct {
	*stored.Templates
	reads    map[string]time.Time
	versions []stored.Version // the oldest first
}

// Search returns the template that the office has under the name "welcome", on a first page.
func (copies) Search(_ context.Context, orgID, query, cursor string, limit int) (core.Page[stored.Template], error) {
	if query != "WEL" || cursor != "" || limit != frame.PageSize || orgID == "" {
		return core.Page[stored.Template]{}, nil
	}
	found := stored.Template{Source: stored.Import, Slug: "welcome-1", Name: "welcome", DeployedName: "welcome", Subject: "Hello </td><script>alert(1)</script>", LastModified: frametest.Now().Add(-time.Hour)}
	return core.Page[stored.Template]{Items: []stored.Template{found}, Next: "NEXT"}, nil
}

func (c copies) ReadTimes(context.Context, string) (map[string]time.Time, error) { return c.reads, nil }

func (c copies) Version(_ context.Context, _, slug string, number int) (stored.Version, error) {
	if number == 0 {
		number = len(c.versions)
	}
	if slug != "news/weekly" || number > len(c.versions) {
		return stored.Version{}, core.NotFound("template version")
	}
	return c.versions[number-1], nil
}

func (c copies) History(_ context.Context, _, slug string, before, limit int) (versions []stored.Version, next int, err error) {
	if slug != "news/weekly" || limit != frame.PageSize {
		return nil, 0, core.NotFound("template")
	}
	for _, v := range c.versions {
		if before == 0 || v.Number < before {
			versions = append([]stored.Version{v}, versions...)
		}
	}
	if before == 3 {
		next = 1
	}
	return versions, next, nil
}

// names has the attributes of the office.
type names struct{}

func (names) AttributeNames(context.Context, string) ([]string, error) {
	return []string{"first_name", "city"}, nil
}

// recipients has the data of one contact.
type recipients struct{}

// contactID is the id of the only contact.
const contactID = "55555555-5555-4555-8555-555555555555"

func (recipients) MessageData(_ context.Context, _, id string) (map[string]any, error) {
	if id != contactID {
		return nil, core.NotFound("contact")
	}
	return map[string]any{"first_name": "Ann<b>", "email": "ann@example.com"}, nil
}

// office is an organization whose operations have prepared results.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Group: "Send", Path: templates.TemplatesPath, Name: "Templates"})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"templates_list": `{"data":[{` + welcome + `}],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
		"templates_get":  templateDetail,
		"reports_template_performance": `{"data":[{"template":"` + escaped + `","sent":12345,"delivered":12000,"bounced":300,"complained":6,"opens":9000,"unique_opens":6000,` +
			`"clicks":700,"unique_clicks":600,"bounce_rate":0.0243,"complaint_rate":0.0005,"open_rate":0.5,"click_rate":0.05}]}`,
	}}
	o.Frame.Operations = o.operations
	room, err := templates.New(o.Frame, templates.Config{
		Stored: copies{
			Templates: stored.New(stored.Config{Registry: names{}, People: recipients{}}), versions: versions(o.User.ID),
			reads: map[string]time.Time{"welcome": frametest.Now().Add(-time.Hour), "</pre><script>alert(1)</script>\"'&\u202e": frametest.Now().Add(-10 * time.Minute)},
		},
		Actors: actors.Actors{Members: db.Members(), Users: db.Users(), Keys: db.Keys(), Clients: db.Clients()},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	shown := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	shown("templates", templates.TemplatesPath)
	shown("template", templates.TemplatesPath+"/welcome-1")
	shown("templates_found", templates.TemplatesPath+"?q=WEL")
	shown("templates_not_found", templates.TemplatesPath+"?q=x")
	o.Allow(members.MayViewContent)
	shown("templates_of_member", templates.TemplatesPath+"?cursor=C&from=51")
	shown("template_of_member", templates.TemplatesPath+"/welcome-1")
	shown("source_of_member", templates.TemplatesPath+"/welcome-1/source")
	o.operations.Results["templates_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	shown("templates_none", templates.TemplatesPath)
}

// TestPreview checks the headers that keep the HTML of a template from running scripts,
// loading anything and being shown elsewhere.
func TestPreview(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	preview := func(into string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, templates.TemplatesPath+"/welcome-1/preview", nil)
		if into != "" {
			r.Header.Set("Sec-Fetch-Dest", into)
		}
		w := httptest.NewRecorder()
		o.pages.ServeHTTP(w, r)
		return w
	}
	for _, into := range []string{"iframe", ""} {
		w := preview(into)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "<p></pre><script>alert(1)</script>") {
			t.Fatalf("into %q: %d %s", into, w.Code, w.Body)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			"X-Frame-Options":         "SAMEORIGIN", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if got := w.Header().Values(name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if w := preview("document"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != templates.TemplatesPath+"/welcome-1" || w.Body.Len() != 0 {
		t.Errorf("outside of a frame: %d %v %s", w.Code, w.Header(), w.Body)
	}
	o.Allow(members.MayViewAnalytics)
	if w := preview("iframe"); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "alert") {
		t.Errorf("without the permission: %d %s", w.Code, w.Body)
	}
}

// TestCallsOfTemplates checks the operations that the pages call, that figures need their
// own permission, and that the HTML of a template is escaped.
func TestCallsOfTemplates(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.pages, templates.TemplatesPath+"/welcome-1")
	if strings.Contains(page, "<script>alert") || !strings.Contains(page, "&lt;script&gt;alert") {
		t.Errorf("HTML of a template:\n%s", page)
	}
	var called []string
	for _, call := range o.operations.Calls() {
		called = append(called, call.Name)
	}
	if diff := cmp.Diff([]string{"templates_get", "reports_template_performance"}, called); diff != "" {
		t.Error(diff)
	}
	o.Allow(members.MayViewContent)
	frametest.Get(t, o.pages, templates.TemplatesPath+"?cursor=C")
	want := []frametest.CalledOperation{{Name: "templates_list", Arguments: `{"cursor":"C","limit":50}`}}
	if diff := cmp.Diff(want, o.operations.Calls()); diff != "" {
		t.Error(diff)
	}
	o.Allow(members.MayViewAnalytics)
	for _, path := range []string{templates.TemplatesPath, templates.TemplatesPath + "/welcome-1"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s without the permission: %d", path, status)
		}
	}
}
