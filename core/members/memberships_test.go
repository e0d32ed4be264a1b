package members_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func (g *gate) memberships() members.Memberships {
	return members.Memberships{
		Orgs: g.db.Orgs(), Members: g.db.Members(), Invitations: g.db.Invitations(), Users: g.db.Users(),
		Grants: g.db.Grants(), Audit: g.db.Audit(),
		Transactor: g.db, Clock: g.clock, Principals: g.auth,
	}
}

// person creates a user and, unless role is "", makes the user a member of the
// organization.
func (g *gate) person(name string, role members.Role, may ...members.Permission) (access.User, access.Actor) {
	g.t.Helper()
	u := access.User{ID: core.NewID(), Email: name + "@example.com", Name: name, CreatedAt: start}
	g.must(g.db.Users().InsertUser(g.t.Context(), u))
	if role != "" {
		g.must(g.db.Members().SetMember(g.t.Context(), members.Member{OrgID: g.org.ID, UserID: u.ID, Role: role, Permissions: may}))
	}
	return u, access.ActorOf(u.ID)
}

func (g *gate) member(userID string) members.Member {
	g.t.Helper()
	m, err := g.db.Members().Member(g.t.Context(), g.org.ID, userID)
	g.must(err)
	return m
}

// last returns the newest entry of the audit log.
func (g *gate) last() line {
	g.t.Helper()
	lines := g.auditLines()
	if len(lines) == 0 {
		return line{}
	}
	return lines[len(lines)-1]
}

func TestPermissionsInWordsAreTheCatalogue(t *testing.T) {
	t.Parallel()
	var named []members.Permission
	for _, area := range members.PermissionAreas() {
		for _, p := range area.Permissions {
			named = append(named, p.Permission)
			if !strings.HasSuffix(p.Words, ".") || len(p.Words) < 10 {
				t.Errorf("%s: %q", p.Permission, p.Words)
			}
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(members.AllPermissions(), named); diff != "" {
		t.Errorf("in words (-catalogue +words):\n%s", diff)
	}
}

func TestSetPermissions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		owner, asOwner := g.person("owner", members.Owner)
		_, asManager := g.person("manager", members.PlainMember, members.MayManageMembers, members.MayViewLists)
		plain, asPlain := g.person("plain", members.PlainMember, members.MayViewContacts)

		got, err := m.SetPermissions(ctx, asManager, g.org.ID, plain.ID, []members.Permission{members.MayViewLists, members.MayViewContacts, members.MayViewLists})
		g.must(err)
		want := members.Member{OrgID: g.org.ID, UserID: plain.ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewContacts, members.MayViewLists}}
		if diff := cmp.Diff(want, got) + cmp.Diff(want, g.member(plain.ID)); diff != "" {
			t.Errorf("the member (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(line{"member.permissions_updated", "user " + asManager.ID, plain.ID, `{"added":["lists.view"],"removed":[]}`}, g.last()); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
		_, err = m.SetPermissions(ctx, asManager, g.org.ID, plain.ID, got.Permissions) // equal ones change nothing
		g.must(err)
		// The manager may remove even permissions that the manager does not have.
		_, err = m.SetPermissions(ctx, asManager, g.org.ID, plain.ID, nil)
		g.must(err)
		_, err = m.SetPermissions(ctx, asOwner, g.org.ID, plain.ID, members.AllPermissions())
		g.must(err)
		_, err = m.SetPermissions(ctx, operator, g.org.ID, plain.ID, []members.Permission{members.MayViewContacts})
		g.must(err)
		before := g.auditLines()
		if len(before) != 4 {
			t.Errorf("lines %v", before)
		}

		for what, c := range map[string]struct {
			actor access.Actor
			who   string
			give  []members.Permission
			want  core.Code
		}{
			"gives what it lacks":            {asManager, plain.ID, []members.Permission{members.MayManageOrg}, core.CodeInvalidScope},
			"gives itself more":              {asManager, asManager.ID, members.AllPermissions(), core.CodeInvalidScope},
			"does not manage":                {asPlain, plain.ID, nil, core.CodeInvalidScope},
			"no member":                      {access.ActorOf(core.NewID()), plain.ID, nil, core.CodeInvalidScope},
			"nobody":                         {access.Actor{}, plain.ID, nil, core.CodeInvalidScope},
			"a kind that only looks like it": {access.Actor{Kind: "system", ID: owner.ID}, plain.ID, nil, core.CodeInvalidScope},
			"an owner":                       {asOwner, owner.ID, nil, core.CodeConflict},
			"a stranger":                     {asOwner, core.NewID(), nil, core.CodeNotFound},
			"not in the catalogue":           {asOwner, plain.ID, []members.Permission{"everything"}, core.CodeValidationFailed},
		} {
			_, err := m.SetPermissions(ctx, c.actor, g.org.ID, c.who, c.give)
			g.wantCode(what, err, c.want)
		}
		_, err = m.SetPermissions(ctx, asOwner, core.NewID(), plain.ID, nil)
		g.wantCode("an unknown organization", err, core.CodeNotFound)
		if diff := cmp.Diff(before, g.auditLines()); diff != "" {
			t.Errorf("refusals left lines:\n%s", diff)
		}
	})
}

func TestSetRole(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		owner, asOwner := g.person("owner", members.Owner)
		manager, asManager := g.person("manager", members.PlainMember, members.AllPermissions()...)
		_, err := m.SetRole(ctx, asManager, g.org.ID, manager.ID, members.Owner)
		g.wantCode("a member makes an owner", err, core.CodeInvalidScope)
		_, err = m.SetRole(ctx, asManager, g.org.ID, owner.ID, members.PlainMember)
		g.wantCode("a member unmakes an owner", err, core.CodeInvalidScope)
		for what, actor := range map[string]access.Actor{"herself": asOwner, "the operator": operator} {
			_, err = m.SetRole(ctx, actor, g.org.ID, owner.ID, members.PlainMember)
			g.wantCode("the last owner by "+what, err, core.CodeConflict)
		}
		_, err = m.SetRole(ctx, asOwner, g.org.ID, owner.ID, "admin")
		g.wantCode("an unknown role", err, core.CodeValidationFailed)
		_, err = m.SetRole(ctx, asOwner, g.org.ID, owner.ID, members.Owner) // the same role changes nothing
		g.must(err)
		if lines := g.auditLines(); len(lines) != 0 {
			t.Errorf("lines %v", lines)
		}

		_, err = m.SetRole(ctx, asOwner, g.org.ID, manager.ID, members.Owner)
		g.must(err)
		if diff := cmp.Diff(line{"member.role_updated", "user " + owner.ID, manager.ID, `{"before":"member","after":"owner"}`}, g.last()); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
		_, err = m.SetRole(ctx, asManager, g.org.ID, owner.ID, members.PlainMember)
		g.must(err)
		if got := g.member(owner.ID); got.Role != members.PlainMember || len(got.Permissions) != 0 {
			t.Errorf("who was an owner is %+v", got)
		}
	})
}

// TestAnOwnerStays checks that one owner remains when all owners demote or remove
// themselves at the same time.
func TestAnOwnerStays(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(members.Memberships, context.Context, access.Actor, string, string) error{
		"demoted": func(m members.Memberships, ctx context.Context, a access.Actor, org, user string) error {
			_, err := m.SetRole(ctx, a, org, user, members.PlainMember)
			return err
		},
		"removed": func(m members.Memberships, ctx context.Context, a access.Actor, org, user string) error {
			return m.RemoveMember(ctx, a, org, user)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.Each(t, func(t *testing.T, db *storage.DB) {
				g, ctx := newGate(t, db), t.Context()
				var owners []access.User
				for i := range 6 {
					u, _ := g.person(fmt.Sprint("owner", i), members.Owner)
					owners = append(owners, u)
				}
				ready := make(chan struct{})
				var wg sync.WaitGroup
				for _, u := range owners {
					wg.Go(func() {
						<-ready
						if err := end(g.memberships(), ctx, access.ActorOf(u.ID), g.org.ID, u.ID); err != nil {
							g.wantCode("the last", err, core.CodeConflict)
						}
					})
				}
				close(ready)
				wg.Wait()
				all, err := db.Members().Members(ctx, g.org.ID)
				g.must(err)
				remaining := slices.DeleteFunc(all, func(m members.Member) bool { return m.Role != members.Owner })
				if len(remaining) != 1 || len(g.auditLines()) != len(owners)-1 {
					t.Errorf("%d owners are left, %d lines", len(remaining), len(g.auditLines()))
				}
			})
		})
	}
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		owner, asOwner := g.person("owner", members.Owner)
		manager, asManager := g.person("manager", members.PlainMember, members.MayManageMembers)
		plain, asPlain := g.person("plain", members.PlainMember)
		grant := access.Grant{ID: core.NewID(), OrgID: g.org.ID, UserID: manager.ID, ClientID: "c", Resource: access.API, CreatedAt: start}
		g.must(db.Grants().InsertGrant(ctx, grant))
		_, secret, err := m.Invite(ctx, asManager, members.NewInvitation{OrgID: g.org.ID, Email: "guest@example.com", Role: members.PlainMember})
		g.must(err)

		g.wantCode("without the permission", m.RemoveMember(ctx, asPlain, g.org.ID, manager.ID), core.CodeInvalidScope)
		g.wantCode("an owner, by a manager", m.RemoveMember(ctx, asManager, g.org.ID, owner.ID), core.CodeInvalidScope)
		g.wantCode("the last owner leaves", m.RemoveMember(ctx, asOwner, g.org.ID, owner.ID), core.CodeConflict)
		g.wantCode("a stranger", m.RemoveMember(ctx, asOwner, g.org.ID, core.NewID()), core.CodeNotFound)
		stranger := access.ActorOf(core.NewID())
		g.wantCode("a stranger leaves", m.RemoveMember(ctx, stranger, g.org.ID, stranger.ID), core.CodeNotFound)

		g.must(m.RemoveMember(ctx, asPlain, g.org.ID, plain.ID))
		remaining := `{"role":"member","left":true,"grants_revoked":0,"invitations_withdrawn":0}`
		if diff := cmp.Diff(line{"member.removed", "user " + plain.ID, plain.ID, remaining}, g.last()); diff != "" {
			t.Errorf("leaving (-want +got):\n%s", diff)
		}
		g.must(m.RemoveMember(ctx, asOwner, g.org.ID, manager.ID))
		removed := `{"role":"member","left":false,"grants_revoked":1,"invitations_withdrawn":1}`
		if diff := cmp.Diff(line{"member.removed", "user " + owner.ID, manager.ID, removed}, g.last()); diff != "" {
			t.Errorf("removing (-want +got):\n%s", diff)
		}

		// Adding the person again does not restore the earlier grants.
		g.must(db.Members().SetMember(ctx, members.Member{OrgID: g.org.ID, UserID: manager.ID, Role: members.Owner}))
		if got, err := db.Grants().Grant(ctx, g.org.ID, grant.ID); err != nil || got.RevokedAt == nil {
			t.Errorf("the grant is %+v, %v", got, err)
		}
		_, err = m.FindOffer(ctx, secret)
		g.wantCode("the invitation", err, core.CodeNotFound)
	})
}
