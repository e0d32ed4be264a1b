package members_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// inviting makes an invitation and returns the secret of its link. The parameter by is the
// inviter.
func (g *gate) inviting(m members.Memberships, by access.Actor, email string, may ...members.Permission) string {
	g.t.Helper()
	_, secret, err := m.Invite(g.t.Context(), by, members.NewInvitation{OrgID: g.org.ID, Email: email, Role: members.PlainMember, Permissions: may})
	g.must(err)
	return secret
}

func TestInvitationsAndJoining(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		_, asOwner := g.person("owner", members.Owner)
		known, _ := g.person("known", "")
		secret := g.inviting(m, asOwner, "KNOWN@example.com", members.MayViewLists, members.MayViewContacts)
		made, err := db.Invitations().Invitations(ctx, g.org.ID)
		g.must(err)
		if diff := cmp.Diff(line{"member.invited", "user " + asOwner.ID, made[0].ID, `{"role":"member","permissions":["contacts.view","lists.view"]}`}, g.last()); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
		offer, err := m.FindOffer(ctx, secret)
		if err != nil || !offer.HasAccount || offer.Org.Name != "Acme" || offer.Invitation.ID != made[0].ID {
			t.Errorf("%+v, %v", offer, err)
		}
		stranger, _ := g.person("stranger", "")
		_, err = m.Join(ctx, secret, stranger)
		g.wantCode("somebody else", err, core.CodeConflict)
		_, err = m.JoinNew(ctx, secret, "Known", "long enough")
		g.wantCode("an account that exists", err, core.CodeConflict)
		member, err := m.Join(ctx, secret, known)
		g.must(err)
		want := members.Member{OrgID: g.org.ID, UserID: known.ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewContacts, members.MayViewLists}}
		if diff := cmp.Diff(want, member) + cmp.Diff(want, g.member(known.ID)); diff != "" {
			t.Errorf("member (-want +got):\n%s", diff)
		}
		joined := fmt.Sprintf(`{"invitation":%q,"invited_by":%q,"role":"member"}`, made[0].ID, asOwner.ID)
		if diff := cmp.Diff(line{"member.joined", "user " + known.ID, known.ID, joined}, g.last()); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
		_, err = m.Join(ctx, secret, known)
		g.wantCode("a used link", err, core.CodeNotFound)
		_, _, err = m.Invite(ctx, asOwner, members.NewInvitation{OrgID: g.org.ID, Email: "known@Example.com", Role: members.PlainMember})
		g.wantCode("a member's address", err, core.CodeConflict)

		fresh := g.inviting(m, asOwner, "new@example.com")
		if offer, err := m.FindOffer(ctx, fresh); err != nil || offer.HasAccount {
			t.Errorf("%+v, %v", offer, err)
		}
		for what, password := range map[string]string{"short": "1234567", "endless": strings.Repeat("x", 1025)} {
			_, err := m.JoinNew(ctx, fresh, "New", password)
			g.wantCode(what, err, core.CodeValidationFailed)
		}
		_, err = m.JoinNew(ctx, fresh, "", "long enough")
		g.wantCode("no name", err, core.CodeValidationFailed)
		_, err = m.JoinNew(ctx, fresh, "New", "long enough")
		g.must(err)
		user, err := g.db.Users().UserByEmail(ctx, "new@example.com")
		g.must(err)
		if good, err := passwords.Verify(user.PasswordHash, "long enough"); !good || err != nil || user.Name != "New" {
			t.Errorf("%+v, %v", user, err)
		}
	})
}

// TestInvitationsEnd checks what makes the link of an invitation invalid: its use, the end
// of a week, withdrawal, a newer invitation, and the inviter's loss of permissions.
func TestInvitationsEnd(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		_, asOwner := g.person("owner", members.Owner)
		maker, asMaker := g.person("maker", members.PlainMember, members.MayManageMembers, members.MayViewLists)
		ended := func(what, secret string) {
			t.Helper()
			_, err := m.FindOffer(ctx, secret)
			g.wantCode(what, err, core.CodeNotFound)
			_, err = m.JoinNew(ctx, secret, "New", "long enough")
			g.wantCode(what, err, core.CodeNotFound)
		}
		open := func(what, secret string) {
			t.Helper()
			if _, err := m.FindOffer(ctx, secret); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		ended("a guess", access.MintAuthorizationCode().Secret)
		ended("no secret", "")

		first := g.inviting(m, asOwner, "a@example.com")
		second := g.inviting(m, asOwner, "A@example.com")
		ended("a replaced link", first)
		open("its successor", second)
		made, err := db.Invitations().Invitations(ctx, g.org.ID)
		g.must(err)
		g.wantCode("withdrawing without the permission", m.WithdrawInvitation(ctx, access.ActorOf(core.NewID()), g.org.ID, made[0].ID), core.CodeInvalidScope)
		g.must(m.WithdrawInvitation(ctx, asMaker, g.org.ID, made[0].ID))
		ended("a withdrawn link", second)
		if diff := cmp.Diff(line{"member.invitation_withdrawn", "user " + maker.ID, made[0].ID, "{}"}, g.last()); diff != "" {
			t.Errorf("audit (-want +got):\n%s", diff)
		}

		given := g.inviting(m, asMaker, "b@example.com", members.MayViewLists)
		for _, c := range []struct {
			role members.Role
			may  []members.Permission
			open bool
		}{
			{members.PlainMember, []members.Permission{members.MayManageMembers}, false},
			{members.PlainMember, []members.Permission{members.MayViewLists}, false},
			{members.PlainMember, []members.Permission{members.MayManageMembers, members.MayViewLists}, true},
			{members.Owner, nil, true},
		} {
			g.must(db.Members().SetMember(ctx, members.Member{OrgID: g.org.ID, UserID: maker.ID, Role: c.role, Permissions: c.may}))
			if c.open {
				open(fmt.Sprint(c), given)
			} else {
				ended(fmt.Sprint(c), given)
			}
		}
		_, _, err = m.Invite(ctx, operator, members.NewInvitation{OrgID: g.org.ID, Email: "boss@example.com", Role: members.Owner})
		g.must(err)
		g.advance(members.InvitationLifetime - time.Microsecond)
		open("in its week", given)
		g.advance(time.Microsecond)
		ended("after its week", given)
	})
}

func TestWhoMayInvite(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	m, ctx := g.memberships(), t.Context()
	_, asMaker := g.person("maker", members.PlainMember, members.MayManageMembers, members.MayViewLists)
	_, asPlain := g.person("plain", members.PlainMember)
	for what, c := range map[string]struct {
		actor access.Actor
		n     members.NewInvitation
		want  core.Code
	}{
		"without the permission": {asPlain, members.NewInvitation{Email: "a@x.y", Role: members.PlainMember}, core.CodeInvalidScope},
		"gives what it lacks":    {asMaker, members.NewInvitation{Email: "a@x.y", Role: members.PlainMember, Permissions: []members.Permission{members.MayManageOrg}}, core.CodeInvalidScope},
		"invites an owner":       {asMaker, members.NewInvitation{Email: "a@x.y", Role: members.Owner}, core.CodeInvalidScope},
		"no role":                {asMaker, members.NewInvitation{Email: "a@x.y"}, core.CodeValidationFailed},
		"no address":             {asMaker, members.NewInvitation{Email: "a", Role: members.PlainMember}, core.CodeValidationFailed},
	} {
		c.n.OrgID = g.org.ID
		_, secret, err := m.Invite(ctx, c.actor, c.n)
		g.wantCode(what, err, c.want)
		if secret != "" {
			t.Errorf("%s: a secret was returned", what)
		}
	}
	for i := range 100 {
		g.inviting(m, operator, fmt.Sprintf("a%d@x.y", i))
	}
	_, _, err := m.Invite(ctx, operator, members.NewInvitation{OrgID: g.org.ID, Email: "more@x.y", Role: members.PlainMember})
	g.wantCode("one too many", err, core.CodeConflict)
}

// TestALinkIsGoodOnce checks that several concurrent uses of one invitation link create one
// account and one member.
func TestALinkIsGoodOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		secret := g.inviting(g.memberships(), operator, "new@example.com")
		ready, outcome := make(chan struct{}), make(chan error, 6)
		for range cap(outcome) {
			go func() {
				<-ready
				_, err := g.memberships().JoinNew(ctx, secret, "New", "long enough")
				outcome <- err
			}()
		}
		close(ready)
		won := 0
		for range cap(outcome) {
			if err := <-outcome; err == nil {
				won++
			} else {
				g.wantCode("a loser", err, core.CodeNotFound)
			}
		}
		members, err := db.Members().Members(ctx, g.org.ID)
		g.must(err)
		if won != 1 || len(members) != 1 {
			t.Errorf("%d won, %d members", won, len(members))
		}
	})
}

// TestJoiningAgainBeginsAnew checks that a person who was removed and joins again does not
// get earlier grants back, not even a grant that was stored during the removal.
func TestJoiningAgainBeginsAnew(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		ann, _ := g.person("ann", members.PlainMember, members.MayViewLists)
		g.must(m.RemoveMember(ctx, operator, g.org.ID, ann.ID))
		slipped := access.Grant{ID: core.NewID(), OrgID: g.org.ID, UserID: ann.ID, ClientID: "c", Resource: access.API, CreatedAt: start}
		g.must(db.Grants().InsertGrant(ctx, slipped)) // a grant approved while the person was being removed
		_, err := m.Join(ctx, g.inviting(m, operator, ann.Email, members.MayViewLists), ann)
		g.must(err)
		if grant, err := db.Grants().Grant(ctx, g.org.ID, slipped.ID); err != nil || grant.RevokedAt == nil {
			t.Errorf("the grant is valid again: %v", err)
		}
	})
}
