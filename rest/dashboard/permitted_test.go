package dashboard

import (
	"context"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bareFrame answers with the status alone, and asks for no second factor.
type bareFrame struct{ Frame }

func (bareFrame) ParsePage(files fs.FS, names ...string) (*template.Template, error) {
	return template.ParseFS(files, names...)
}

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
	o.must(db.Orgs().InsertOrg(t.Context(), o.org))
	o.must(db.Users().InsertUser(t.Context(), o.user))
	master, err := access.NewMasterKey(make([]byte, 32))
	o.must(err)
	o.d = &Dashboard{Config: Config{
		Frame: bareFrame{}, Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Invitations: db.Invitations(),
		Principals: access.NewAuthenticator(access.AuthenticatorConfig{Clock: clock}),
		Transactor: o.late, Clock: clock,
		Account: account.New(account.Config{
			Account: inSandbox(t, o.org.ID), Connections: db.Connections(master), Mirror: db.Channels(), Requests: db.ProductionRequests(),
			Clock: clock, Log: slog.New(slog.DiscardHandler),
		}),
		Suppression:   suppression.New(suppression.Config{Store: db.Suppression(), Transactor: db, Clock: clock}),
		Expensive:     func(ctx context.Context, _ string, read func(context.Context) error) error { return read(ctx) },
		Channels:      channels.New(channels.Config{Store: db.Channels(), Clock: clock}),
		Connecting:    sending.Connecting{Connections: db.Connections(master), Transactor: db, Clock: clock, Follow: func(context.Context, string) error { return nil }},
		SyncAccount:   func(context.Context, string) (bool, error) { return true, nil },
		EventsAddress: func(path string) string { return path },
	}}
	o.must(o.d.listPages())
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

// inSandbox is the new sending account of an organization.
func inSandbox(t *testing.T, orgID string) *simulator.Simulator {
	t.Helper()
	s, err := simulator.Open(filepath.Join(t.TempDir(), "account.db"), simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Seed(t.Context(), orgID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	return s
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
	request, err := o.db.ProductionRequests().LatestRequest(ctx, o.org.ID)
	see(request, err)
	keys, err := o.db.Keys().APIKeysOf(ctx, o.org.ID)
	see(keys, err)
	clients, err := o.db.Clients().ClientsOf(ctx, o.org.ID)
	see(clients, err)
	grants, err := o.db.Grants().Grants(ctx, o.org.ID, "", 100)
	see(grants, err)
	blocked, err := o.db.OpenClients().BlockedClients(ctx, o.org.ID)
	see(blocked, err)
	lines, err := o.db.Audit().AuditEvents(ctx, o.org.ID, 100)
	see(lines, err)
	return seen
}

// post hands a form to a page as the handler does that admitted the member.
func (o *office) post(to page, id string, m access.Member, form url.Values) int {
	r := httptest.NewRequestWithContext(o.t.Context(), http.MethodPost, Path, nil)
	r.PostForm = form
	r.SetPathValue("id", id)
	r.SetPathValue("slug", "main")
	w := httptest.NewRecorder()
	to(w, r, access.Visitor{User: o.user, Org: o.org, Member: m})
	return w.Code
}

// posted is a form that takes a permission.
type posted struct {
	name  string
	needs access.Permission
	page  page
	id    string // of what the form is about, as its path names it
	form  url.Values
	done  int
}

// takePermission holds each form to its permission: a member who may do it when the
// request is admitted and not any more when its transaction begins does nothing.
func (o *office) takePermission(forms ...posted) {
	for _, f := range forms {
		before := o.state()
		for how, lose := range map[string]func(){
			"the permission": func() { o.may(access.MayViewSending) },
			"the membership": func() { o.must(o.db.Members().RemoveMember(o.t.Context(), o.org.ID, o.user.ID)) },
		} {
			admitted := o.may(f.needs, access.MayViewSending)
			o.late.first = lose
			if status := o.post(f.page, f.id, admitted, f.form); status != http.StatusForbidden || o.late.first != nil {
				o.t.Errorf("%s without %s: %d", f.name, how, status)
			}
			if diff := cmp.Diff(before, o.state()); diff != "" {
				o.t.Errorf("%s without %s changed (-before +after):\n%s", f.name, how, diff)
			}
		}
		if status := o.post(f.page, f.id, o.may(f.needs, access.MayViewSending), f.form); status != f.done || cmp.Equal(before, o.state()) {
			o.t.Errorf("%s with the permission: %d", f.name, status)
		}
	}
}

func TestAPermissionLostMeanwhileCounts(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		o.takePermission(
			posted{"exclude", access.MayManageUndeliverable, o.d.excludeAddress, o.address, url.Values{"reason": {"They wrote to us"}}, http.StatusSeeOther},
			posted{"rules", access.MayConfigureUndelivered, o.d.saveRules, "", url.Values{"profile": {"strict"}}, http.StatusSeeOther},
			posted{"adopt", access.MayAdoptChannels, o.d.adoptChannel, "", nil, http.StatusSeeOther},
			posted{"sync", access.MayTriggerSync, o.d.syncAccount, "", nil, http.StatusSeeOther},
			posted{"connect", access.MayManageOrg, o.d.connectAccount, "", url.Values{"provider": {"simulator"}}, http.StatusSeeOther},
			posted{"template version", access.MayManageOrg, o.d.recordTemplateVersion, "", url.Values{"template_version": {"1"}}, http.StatusSeeOther},
			posted{"events key", access.MayManageOrg, o.d.makeEventsKey, "", nil, http.StatusOK},
			posted{"disconnect", access.MayManageOrg, o.d.disconnectAccount, "", nil, http.StatusSeeOther},
			posted{"production access", access.MaySubmitProduction, o.d.requestProductionAccess, "", url.Values{
				"mail_type": {"TRANSACTIONAL"}, "website": {"https://example.com"}, "use_case": {strings.Repeat("Receipts for orders. ", 3)},
			}, http.StatusSeeOther},
		)
	})
}

// Who asks again while the account is being read is told so, and leaves nothing.
func TestASyncThatIsUnderWayIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.d.SyncAccount = func(context.Context, string) (bool, error) { return false, nil }
	before := o.state()
	if status := o.post(o.d.syncAccount, "", o.may(access.MayTriggerSync), nil); status != http.StatusSeeOther || !cmp.Equal(before, o.state()) {
		t.Errorf("%d: %s", status, cmp.Diff(before, o.state()))
	}
}
