package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func newUser(t *testing.T, db *storage.DB) access.User {
	t.Helper()
	id := core.NewID()
	u := access.User{ID: id, Email: id + "@example.com", Name: "Ada", PasswordHash: "$argon2id$x", CreatedAt: start}
	must(t, db.Users().InsertUser(t.Context(), u))
	return u
}

func TestMembers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org, user := t.Context(), db.Members(), newOrg(t, db), newUser(t, db)
		_, err := store.Member(ctx, org, user.ID)
		wantCode(t, "a stranger", err, core.CodeNotFound)
		wantCode(t, "removing a stranger", store.RemoveMember(ctx, org, user.ID), core.CodeNotFound)

		for _, want := range []members.Member{
			{Role: members.PlainMember, Permissions: []members.Permission{members.MayViewContacts, members.MayManageLists}},
			{Role: members.Owner},
			{Role: members.PlainMember},
		} {
			want.OrgID, want.UserID = org, user.ID
			must(t, store.SetMember(ctx, want))
			got, err := store.Member(ctx, org, user.ID)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Member (-want +got):\n%s", diff)
			}
			all, err := store.Members(ctx, org)
			must(t, err)
			if diff := cmp.Diff([]members.Member{want}, all); diff != "" {
				t.Errorf("Members (-want +got):\n%s", diff)
			}
		}
		must(t, store.RemoveMember(ctx, org, user.ID))
		_, err = store.Member(ctx, org, user.ID)
		wantCode(t, "a former member", err, core.CodeNotFound)
	})
}

func TestAMemberThatWasAddedWithARole(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, user := t.Context(), newOrg(t, db), newUser(t, db)
		must(t, db.Members().AddMember(ctx, org, user.ID, "owner"))
		got, err := db.Members().Member(ctx, org, user.ID)
		must(t, err)
		if diff := cmp.Diff(members.Member{OrgID: org, UserID: user.ID, Role: members.Owner}, got); diff != "" {
			t.Errorf("Member (-want +got):\n%s", diff)
		}
	})
}

func TestMembershipsAreByNameOfOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, user, other := t.Context(), newUser(t, db), newUser(t, db)
		var want []members.Member
		var orgs []core.Org
		// names in the sort order that both engines must use
		for _, name := range []string{"acme", "Beta", "zeta", "Ähre"} {
			org := core.Org{ID: core.NewID(), Name: name, Slug: core.NewID(), Tier: "team"}
			must(t, db.Orgs().InsertOrg(ctx, org))
			orgs = append(orgs, org)
			want = append(want, members.Member{OrgID: org.ID, UserID: user.ID, Role: members.PlainMember})
			must(t, db.Members().SetMember(ctx, members.Member{OrgID: org.ID, UserID: other.ID, Role: members.Owner}))
		}
		for _, i := range []int{2, 0, 3, 1} {
			must(t, db.Members().SetMember(ctx, want[i]))
		}
		got, err := db.Members().MembershipsOf(ctx, user.ID)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("MembershipsOf (-want +got):\n%s", diff)
		}
		entered, err := db.Members().OrganizationsOf(ctx, user.ID)
		must(t, err)
		if diff := cmp.Diff(orgs, entered); diff != "" {
			t.Errorf("OrganizationsOf (-want +got):\n%s", diff)
		}
	})
}

func TestUserByID(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		user := newUser(t, db)
		got, err := db.Users().UserByID(t.Context(), user.ID)
		must(t, err)
		if diff := cmp.Diff(user, got); diff != "" {
			t.Errorf("UserByID (-want +got):\n%s", diff)
		}
		_, err = db.Users().UserByID(t.Context(), core.NewID())
		wantCode(t, "an unknown user", err, core.CodeNotFound)
	})
}
