package retention_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/retention"
	"github.com/mailhelm/mailhelm/storage"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with periods on a database.
type office struct {
	*frametest.Office
	db       *storage.DB
	settings retention.Settings
	pages    http.Handler
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Retention"}), db: db}
	o.settings = retention.Settings{Store: retentionstore.New(db.DB), Orgs: db.Orgs().Org, Audit: db.Audit(), Transactor: db, Clock: frametest.Now}
	room, err := pages.New(o.Frame, o.settings)
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func TestGoldenRetention(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		for _, years := range []int{0, 3} {
			o.Must(o.db.Audit().AppendAudit(t.Context(), access.AuditEvent{ID: core.NewID(), OrgID: o.Org.ID, OccurredAt: frametest.Now().AddDate(-years, 0, 0), Action: "x", Detail: "{}"}))
		}
		o.Must(o.settings.Store.NoteRun(t.Context(), o.Org.ID, retention.AuditLog, frametest.Now(), 1200))
		_, page := frametest.Get(t, o.pages, pages.Path)
		frametest.CompareGolden(t, "defaults", page, *update)
		for _, want := range []string{"saved", "same"} {
			status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, url.Values{"audit_log": {" 90 "}, "membership_log": {"0"}, "undeliverable": {""}})
			if status != http.StatusSeeOther {
				t.Fatalf("%s: %d %s", want, status, page)
			}
		}
		_, page = frametest.Get(t, o.pages, pages.Path+"?done=saved")
		frametest.CompareGolden(t, "saved", page, *update)
		events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Action: "org.retention_updated", Limit: 5})
		o.Must(err)
		if len(events) != 1 || events[0].ActorID != o.User.ID || events[0].Detail != `{"audit_log":{"before":365,"after":90},"membership_log":{"before":365,"after":0}}` {
			t.Errorf("%+v", events)
		}
	})
}

// TestRefusedPeriods checks that a form with a wrong number changes nothing and keeps what was
// typed.
func TestRefusedPeriods(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		for typed, want := range map[string]string{
			"89": "The period of &#34;Audit log&#34; must be 90 to 3650 days, or 0", "x&lt;": "The period of &#34;Audit log&#34; must be a whole number of days", "-1": "must be 90 to 3650 days",
		} {
			status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, url.Values{"audit_log": {strings.ReplaceAll(typed, "&lt;", "<")}, "membership_log": {"40"}})
			if status != http.StatusUnprocessableEntity || !strings.Contains(page, want) || !strings.Contains(page, `value="`+typed+`"`) || !strings.Contains(page, `value="40"`) {
				t.Errorf("%s: %d %s", typed, status, page)
			}
		}
		if states, err := o.settings.Store.States(t.Context(), o.Org.ID); err != nil || len(states) != 0 {
			t.Errorf("stored %v, %v", states, err)
		}
	})
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		o.Allow(members.MayManageContent)
		if status, _ := frametest.Get(t, o.pages, pages.Path); status != http.StatusForbidden {
			t.Errorf("%d", status)
		}
		o.CheckPermissions(o.pages, func() []any {
			states, err := o.settings.Store.States(context.Background(), o.Org.ID)
			o.Must(err)
			return []any{states}
		}, frametest.Form{Name: "edit", Needs: members.MayManageOrg, Path: pages.Path, Done: http.StatusSeeOther, Form: url.Values{"audit_log": {"100"}}})
	})
}
