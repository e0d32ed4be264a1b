package site_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/site"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with a website on a database.
type office struct {
	*frametest.Office
	db       *storage.DB
	settings site.Settings
	pages    http.Handler
	changes  int
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Website"}), db: db}
	o.settings = site.Settings{Store: db.Site(), Clock: frametest.Now}
	room, err := pages.New(o.Frame, pages.Config{Settings: o.settings, Changed: func(context.Context) { o.changes++ }, APIURL: "https://api.example.com"})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// post sends a form of the page and checks the status of the answer.
func (o *office) post(t *testing.T, path string, want int) string {
	t.Helper()
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path+path, url.Values{})
	if status != want {
		t.Fatalf("%s: %d %s", path, status, page)
	}
	return page
}

// siteKeys matches site keys, which differ in each run.
var siteKeys = regexp.MustCompile(`pk_live_[a-z0-9]{32}`)

// compare compares the page with a golden file. Keys have fixed letters there.
func (o *office) compare(t *testing.T, name, query string) {
	t.Helper()
	_, page := frametest.Get(t, o.pages, pages.Path+query)
	frametest.CompareGolden(t, name, siteKeys.ReplaceAllString(page, "pk_live_"+strings.Repeat("a", 32)), *update)
}

func TestGoldenSite(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.compare(t, "none", "")
	o.post(t, "/create", http.StatusSeeOther)
	o.compare(t, "created", "?done=create")
	if page := o.post(t, "/create", http.StatusConflict); !strings.Contains(page, "has a site key already") {
		t.Errorf("%s", page)
	}
	o.post(t, "/rotate", http.StatusSeeOther)
	o.post(t, "/off", http.StatusSeeOther)
	count := func(outcome site.Outcome, name string, n int64) site.DayCount {
		return site.DayCount{OrgID: o.Org.ID, Day: frametest.Now(), Count: site.Count{Outcome: outcome, Name: name, Beacons: n, LastAt: frametest.Now().Add(-time.Minute)}}
	}
	o.Must(o.db.Site().AddSiteCounts(t.Context(), []site.DayCount{
		count(site.Written, "", 1234), count(site.Duplicate, "", 1), count(site.BadName, "<script>", 3), count(site.BadName, "", 2), count(site.UnknownVisitor, "", 7),
	}))
	o.compare(t, "health", "?done=off")
	o.post(t, "/on", http.StatusSeeOther)
	if state, err := o.settings.Of(t.Context(), o.Org.ID); err != nil || state.Off || len(state.Keys) != 2 || o.changes != 4 {
		t.Errorf("%+v %v, applied %d times", state, err, o.changes)
	}
	events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 9})
	o.Must(err)
	var actions []string
	for _, e := range events {
		actions = append(actions, e.Action)
	}
	if got := strings.Join(actions, " "); got != "site.turned_on site.turned_off site_key.rotated site_key.created" {
		t.Errorf("audit log: %s", got)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayManageOrg)
	if status, _ := frametest.Get(t, o.pages, pages.Path); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
	state := func() []any {
		s, err := o.settings.Of(context.Background(), o.Org.ID)
		o.Must(err)
		return []any{s}
	}
	o.CheckPermissions(o.pages, state,
		frametest.Form{Name: "create", Needs: members.MayManageCredentials, Path: pages.Path + "/create", Done: http.StatusSeeOther},
		frametest.Form{Name: "rotate", Needs: members.MayManageCredentials, Path: pages.Path + "/rotate", Done: http.StatusSeeOther},
		frametest.Form{Name: "off", Needs: members.MayManageCredentials, Path: pages.Path + "/off", Done: http.StatusSeeOther},
		frametest.Form{Name: "on", Needs: members.MayManageCredentials, Path: pages.Path + "/on", Done: http.StatusSeeOther},
	)
}
