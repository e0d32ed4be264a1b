package dashboard

import (
	"context"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bareFrame answers with the status alone, and asks for no second factor.
type bareFrame struct{ Frame }

func (bareFrame) Confirm(http.ResponseWriter, *http.Request, access.Visitor, string) bool {
	return true
}

func (bareFrame) Show(w http.ResponseWriter, _ *http.Request, status int, _ *template.Template, _ string, _ any) {
	w.WriteHeader(status)
}

func (bareFrame) Fail(w http.ResponseWriter, _ *http.Request, _ error) {
	w.WriteHeader(http.StatusInternalServerError)
}

// late does something when a transaction is asked for, which is after the request
// was admitted and before the transaction began.
type late struct {
	*storage.DB
	first func()
}

func (l *late) InTx(ctx context.Context, f func(context.Context) error) error {
	if first := l.first; first != nil {
		l.first = nil
		first()
	}
	return l.DB.InTx(ctx, f)
}

// office is an organization with something of everything that a member may change.
type office struct {
	t       *testing.T
	db      *storage.DB
	late    *late
	d       *Dashboard
	org     core.Org
	user    access.User
	address string
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	now := time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	o := &office{t: t, db: db, late: &late{DB: db}, org: core.Org{ID: core.NewID(), Name: "Acme", Slug: core.NewID(), Tier: "team", RetentionDays: 30}}
	o.user = access.User{ID: core.NewID(), Email: o.org.ID + "@example.com", CreatedAt: now}
	o.must(db.Access().InsertOrg(t.Context(), o.org))
	o.must(db.Access().InsertUser(t.Context(), o.user))
	master, err := access.NewMasterKey(make([]byte, 32))
	o.must(err)
	o.d = &Dashboard{Config: Config{
		Frame: bareFrame{}, Store: db.Access(), Members: db.Members(), Invitations: db.Invitations(), Grants: db.Grants(),
		Transactor: o.late, Clock: clock,
		Suppression:   suppression.New(suppression.Config{Store: db.Suppression(), Transactor: db, Clock: clock}),
		Channels:      channels.New(channels.Config{Store: db.Channels(), Clock: clock}),
		Connecting:    sending.Connecting{Connections: db.Connections(master), Transactor: db, Clock: clock, Follow: func(context.Context, string) error { return nil }},
		EventsAddress: func(path string) string { return path },
	}}
	entry := suppression.Entry{
		Key: suppression.AddressKey("gone@example.com"), Email: "gone@example.com", Status: suppression.Listed, Reason: suppression.PermanentBounce,
		FirstSeenAt: now, LastSeenAt: now, LastChangedAt: now, EventCount: 1,
	}
	o.address = entry.ID()
	o.must(db.Suppression().SaveEntries(t.Context(), o.org.ID, []suppression.Entry{entry}))
	o.must(db.Channels().Mirror(t.Context(), o.org.ID, channels.Seen{
		Sync: channels.Sync{Account: "account of " + o.org.ID, Region: "eu-central-1", At: now.Add(-time.Hour)},
		Sets: []sending.ConfigurationSet{{Name: "main"}},
	}))
	return o
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) may(permissions ...access.Permission) access.Member {
	o.t.Helper()
	m := access.Member{OrgID: o.org.ID, UserID: o.user.ID, Role: access.PlainMember, Permissions: permissions}
	o.must(o.db.Members().SetMember(o.t.Context(), m))
	return m
}

// state is everything that the forms of the test change, and the audit log.
func (o *office) state() []any {
	o.t.Helper()
	ctx, seen := o.t.Context(), []any{}
	see := func(found any, err error) {
		o.t.Helper()
		if err != nil && core.AsError(err).Code != core.CodeNotFound {
			o.t.Fatal(err)
		}
		seen = append(seen, found)
	}
	entry, err := o.d.Suppression.Entry(ctx, o.org.ID, o.address)
	see(entry, err)
	rules, err := o.d.Suppression.Rules(ctx, o.org.ID)
	see(rules, err)
	channel, err := o.db.Channels().Channel(ctx, o.org.ID, channels.ChannelKey{Slug: "main"})
	see(channel, err)
	connection, err := o.d.Connecting.Connections.Connection(ctx, o.org.ID)
	see(connection, err)
	lines, err := o.db.Access().AuditEvents(ctx, o.org.ID, 100)
	see(lines, err)
	return seen
}

// post hands a form to a page as the handler does that admitted the member.
func (o *office) post(to page, m access.Member, form url.Values) int {
	r := httptest.NewRequestWithContext(o.t.Context(), http.MethodPost, Path, nil)
	r.PostForm = form
	r.SetPathValue("id", o.address)
	r.SetPathValue("slug", "main")
	w := httptest.NewRecorder()
	to(w, r, access.Visitor{User: o.user, Org: o.org, Member: m})
	return w.Code
}

// A member who may do something when the request is admitted and not any more when
// its transaction begins does nothing.
func TestAPermissionLostMeanwhileCounts(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		for _, c := range []struct {
			name  string
			needs access.Permission
			page  page
			form  url.Values
			done  int
		}{
			{"exclude", access.MayManageUndeliverable, o.d.excludeAddress, url.Values{"reason": {"They wrote to us"}}, http.StatusSeeOther},
			{"rules", access.MayConfigureUndelivered, o.d.saveRules, url.Values{"profile": {"strict"}}, http.StatusSeeOther},
			{"adopt", access.MayAdoptChannels, o.d.adoptChannel, nil, http.StatusSeeOther},
			{"sync", access.MayTriggerSync, o.d.syncAccount, nil, http.StatusSeeOther},
			{"connect", access.MayManageOrg, o.d.connectAccount, url.Values{"provider": {"simulator"}}, http.StatusSeeOther},
			{"template version", access.MayManageOrg, o.d.recordTemplateVersion, url.Values{"template_version": {"1"}}, http.StatusSeeOther},
			{"events key", access.MayManageOrg, o.d.makeEventsKey, nil, http.StatusOK},
			{"disconnect", access.MayManageOrg, o.d.disconnectAccount, nil, http.StatusSeeOther},
		} {
			before := o.state()
			for how, lose := range map[string]func(){
				"the permission": func() { o.may(access.MayViewSending) },
				"the membership": func() { o.must(o.db.Members().RemoveMember(t.Context(), o.org.ID, o.user.ID)) },
			} {
				admitted := o.may(c.needs)
				o.late.first = lose
				if status := o.post(c.page, admitted, c.form); status != http.StatusForbidden || o.late.first != nil {
					t.Errorf("%s without %s: %d", c.name, how, status)
				}
				if diff := cmp.Diff(before, o.state()); diff != "" {
					t.Errorf("%s without %s changed (-before +after):\n%s", c.name, how, diff)
				}
			}
			if status := o.post(c.page, o.may(c.needs), c.form); status != c.done || cmp.Equal(before, o.state()) {
				t.Errorf("%s with the permission: %d", c.name, status)
			}
		}
	})
}
