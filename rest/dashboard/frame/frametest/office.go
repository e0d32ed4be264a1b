package frametest

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/storage"
)

// Now returns the fixed time of the tests' clocks.
func Now() time.Time { return time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC) }

// Database has the stores that NewOffice needs.
type Database struct {
	Transactor core.Transactor
	Orgs       interface {
		InsertOrg(ctx context.Context, org core.Org) error
	}
	Users interface {
		InsertUser(ctx context.Context, u access.User) error
	}
	Audit   frame.AuditLog
	Members interface {
		SetMember(ctx context.Context, m members.Member) error
		RemoveMember(ctx context.Context, orgID, userID string) error
		frame.Organizations
	}
	Membership frame.Membership
}

// DatabaseOf returns the stores of a database for [NewOffice].
func DatabaseOf(db *storage.DB) Database {
	return Database{
		Transactor: db, Orgs: db.Orgs(), Users: db.Users(), Audit: db.Audit(), Members: db.Members(),
		Membership: members.Memberships{Orgs: db.Orgs(), Members: db.Members(), Users: db.Users(), Transactor: db, Clock: Now},
	}
}

// runDirectly calls read. It stands in for the bulkhead, which lets expensive reads wait.
func runDirectly(ctx context.Context, _ string, read func(context.Context) error) error {
	return read(ctx)
}

// Office is an organization with one member, who is the visitor of the tested pages.
type Office struct {
	T     *testing.T
	Org   core.Org
	User  access.User
	Frame *frame.Frame
	Site  *Site
	Delay *Delay
	db    Database
}

// NewOffice inserts an organization and its only member, an owner, into the database. areas
// are the entries of the navigation.
func NewOffice(t *testing.T, db Database, areas ...frame.Area) *Office {
	t.Helper()
	o := &Office{
		T: t, db: db, Site: &Site{}, Delay: &Delay{Transactor: db.Transactor},
		Org: core.Org{ID: core.NewID(), Name: "Acme", Slug: core.NewID(), Tier: "team", RetentionDays: 30},
	}
	o.User = access.User{ID: core.NewID(), Email: o.Org.ID + "@example.com", CreatedAt: Now()}
	o.Must(db.Orgs.InsertOrg(t.Context(), o.Org))
	o.Must(db.Users.InsertUser(t.Context(), o.User))
	o.Frame = frame.New(frame.Config{
		Site: o.Site, Organizations: db.Members, Membership: db.Membership, Transactor: o.Delay, Audit: db.Audit, Clock: Now, Pace: Unpaced, Expensive: runDirectly, DocsURL: "https://docs.example/docs", Areas: areas, Built: catalogue.NeededScopes(catalogue.Operations(catalogue.Domains{})),
	})
	o.Join(members.Member{Role: members.Owner})
	return o
}

// Unpaced is a [frame.Config.Pace] without a limit.
func Unpaced(context.Context, string) error { return nil }

// Must fails the test at once if err is not nil.
func (o *Office) Must(err error) {
	o.T.Helper()
	if err != nil {
		o.T.Fatal(err)
	}
}

// Join sets the visitor's role and permissions in the database and in the site, so that the
// next request is checked against them.
func (o *Office) Join(m members.Member) {
	o.T.Helper()
	m.OrgID, m.UserID = o.Org.ID, o.User.ID
	o.Must(o.db.Members.SetMember(o.T.Context(), m))
	o.Site.Visitor = people.Visitor{User: o.User, Org: o.Org, Member: m}
}

// Allow makes the visitor a plain member with only these permissions. The change applies to
// all later requests.
func (o *Office) Allow(permissions ...members.Permission) {
	o.T.Helper()
	o.Join(members.Member{Role: members.PlainMember, Permissions: permissions})
}

// TakeAway sets the visitor's permissions in the database only. It simulates a change by
// another person after the request passed its first check.
func (o *Office) TakeAway(remaining ...members.Permission) {
	o.T.Helper()
	o.Must(o.db.Members.SetMember(o.T.Context(), members.Member{OrgID: o.Org.ID, UserID: o.User.ID, Role: members.PlainMember, Permissions: remaining}))
}

// Remove deletes the visitor's membership in the database only. It simulates a removal by
// another person after the request passed its first check.
func (o *Office) Remove() {
	o.T.Helper()
	o.Must(o.db.Members.RemoveMember(o.T.Context(), o.Org.ID, o.User.ID))
}

// Delay is a transactor that calls First once, before its next transaction. The request has
// passed its first check of permissions by then.
type Delay struct {
	core.Transactor
	First func()
}

// InTx calls First, if it is set, and clears it. It then runs fn in a transaction.
func (d *Delay) InTx(ctx context.Context, fn func(context.Context) error) error {
	if first := d.First; first != nil {
		d.First = nil
		first()
	}
	return d.Transactor.InTx(ctx, fn)
}

// Form is a valid form for CheckPermissions, with the permission that it needs.
type Form struct {
	Name  string
	Needs members.Permission
	Also  []members.Permission // further permissions that the form needs
	Path  string
	Form  url.Values
	Done  int // the expected status of the answer to this form
}

// CheckPermissions sends each form three times. In one request the visitor loses the
// permission before the transaction, in another one the membership. Both requests must be
// refused, and the values that the function state returns must not change. In the last
// request the visitor has the permission, and these values must change.
func (o *Office) CheckPermissions(pages http.Handler, state func() []any, forms ...Form) {
	o.T.Helper()
	for _, f := range forms {
		before := state()
		for how, lose := range map[string]func(){
			"the permission": func() { o.TakeAway(members.MayViewSending) },
			"the membership": o.Remove,
		} {
			o.Allow(append(f.Also, f.Needs, members.MayViewSending)...)
			o.Delay.First = lose
			if status, _ := Post(o.T, pages, o.Site.Visitor, f.Path, f.Form); status != http.StatusForbidden || o.Delay.First != nil {
				o.T.Errorf("%s without %s: %d", f.Name, how, status)
			}
			if diff := cmp.Diff(before, state()); diff != "" {
				o.T.Errorf("%s without %s changed (-before +after):\n%s", f.Name, how, diff)
			}
		}
		o.Allow(append(f.Also, f.Needs, members.MayViewSending)...)
		if status, page := Post(o.T, pages, o.Site.Visitor, f.Path, f.Form); status != f.Done || cmp.Equal(before, state()) {
			o.T.Errorf("%s with the permission: %d %s", f.Name, status, page)
		}
	}
}
