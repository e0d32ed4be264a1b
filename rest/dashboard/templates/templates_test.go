package templates_test

import (
	"context"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/members"
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
const welcome = `"slug":"welcome-1","name":"` + escaped + `","subject":"Hello {{name}} ` + escaped + `","channel":null,"version":"abc1234","last_modified_at":"2026-03-12T14:30:00Z","source":"import"`

const templateDetail = `{` + welcome + `,"html":"<p>` + escaped + `</p>","text":"Hi {{name}}","variables":[{"name":"name","required":true,"default":null},{"name":"city","required":false,"default":null}],` +
	`"content_hash":"abc1234567","validation_status":"invalid","diagnostics":["` + "`html`" + ` leaves a block open."],"topic":null,"tags":[],"deployed_name":"welcome"}`

// reads are the times of the last reads from the account.
type reads map[string]time.Time

func (r reads) ReadTimes(context.Context, string) (map[string]time.Time, error) { return r, nil }

// office is an organization whose operations have prepared results.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.Database{
		Transactor: db, Orgs: db.Orgs(), Users: db.Users(), Audit: db.Audit(), Members: db.Members(),
		Membership: members.Memberships{Orgs: db.Orgs(), Members: db.Members(), Transactor: db, Clock: frametest.Now},
	}, frame.Area{Group: "Send", Path: templates.TemplatesPath, Name: "Templates"})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"templates_list": `{"data":[{` + welcome + `}],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
		"templates_get":  templateDetail,
		"reports_template_performance": `{"data":[{"template":"` + escaped + `","sent":12345,"delivered":12000,"bounced":300,"complained":6,"opens":9000,"unique_opens":6000,` +
			`"clicks":700,"unique_clicks":600,"bounce_rate":0.0243,"complaint_rate":0.0005,"open_rate":0.5,"click_rate":0.05}]}`,
	}}
	o.Frame.Operations = o.operations
	room, err := templates.New(o.Frame, reads{"welcome": frametest.Now().Add(-time.Hour), "</pre><script>alert(1)</script>\"'&\u202e": frametest.Now().Add(-10 * time.Minute)})
	o.Must(err)
	frametest.CheckPages(t, room.Pages)
	o.pages, err = o.Frame.Mux(room.Routes())
	o.Must(err)
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
	o.Allow(members.MayViewContent)
	shown("templates_of_member", templates.TemplatesPath+"?cursor=C&from=51")
	shown("template_of_member", templates.TemplatesPath+"/welcome-1")
	o.operations.Results["templates_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	shown("templates_none", templates.TemplatesPath)
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
