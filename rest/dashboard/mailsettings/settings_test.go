package mailsettings_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/mailsettings"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with mail settings on a database.
type office struct {
	*frametest.Office
	db       *storage.DB
	settings *mailsettings.MailSettings
	pages    http.Handler
	changes  int
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Mail settings"}), db: db}
	o.settings = mailsettings.New(mailsettings.Config{Store: db.MailSettings(), Clock: frametest.Now, OnChange: func(context.Context, string) error {
		o.changes++
		return nil
	}})
	room, err := pages.New(o.Frame, o.settings)
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// typed returns a form as a browser sends it.
func typed(address, base string) url.Values {
	return url.Values{"language": {"de"}, "postal_address": {address}, "asset_base_url": {base}}
}

func TestGoldenSettings(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.pages, pages.Path)
	frametest.CompareGolden(t, "settings", page, *update)
	for range 2 {
		if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, typed("Orchard </textarea><script>\r\nGraz", "https://cdn.example/")); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, page)
		}
	}
	got, err := o.settings.Of(t.Context(), o.Org.ID)
	want := mailsettings.Settings{Language: "de", PostalAddress: "Orchard </textarea><script>\nGraz", AssetBaseURL: "https://cdn.example", UpdatedAt: frametest.Now()}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || o.changes != 1 {
		t.Errorf("%v, %d changes %s", err, o.changes, diff)
	}
	_, page = frametest.Get(t, o.pages, pages.Path+"?done=saved")
	frametest.CompareGolden(t, "saved", page, *update)
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, typed("{{x}}", "http://cdn.example"))
	if status != http.StatusUnprocessableEntity || !strings.Contains(page, "The postal address must not have braces") || !strings.Contains(page, `value="http://cdn.example"`) {
		t.Errorf("%d %s", status, page)
	}
	events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 5})
	o.Must(err)
	if len(events) != 1 || events[0].Action != "org.mail_settings_updated" || events[0].ActorID != o.User.ID ||
		!strings.Contains(events[0].Detail, `"language":{"before":"en","after":"de"}`) || !strings.Contains(events[0].Detail, `"unsubscribe_footer":{"before":true,"after":false}`) {
		t.Errorf("%+v", events)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayManageContent)
	if status, _ := frametest.Get(t, o.pages, pages.Path); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
	o.CheckPermissions(o.pages, func() []any {
		s, err := o.settings.Of(context.Background(), o.Org.ID)
		o.Must(err)
		return []any{s}
	}, frametest.Form{Name: "edit", Needs: members.MayManageOrg, Path: pages.Path, Done: http.StatusSeeOther, Form: typed("Graz", "")})
}
