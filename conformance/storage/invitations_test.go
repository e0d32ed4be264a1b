package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func newInvitation(t *testing.T, db *storage.DB, org, by string) members.Invitation {
	t.Helper()
	id := core.NewID()
	i := members.Invitation{
		ID: id, OrgID: org, Hash: []byte(id), Email: "Guest@Example.com", Role: members.PlainMember,
		Permissions: []members.Permission{members.MayViewContacts}, InvitedBy: by, CreatedAt: start, ExpiresAt: later(100),
	}
	must(t, db.Invitations().InsertInvitation(t.Context(), i))
	return i
}

func wantInvitations(t *testing.T, db *storage.DB, org string, want ...members.Invitation) {
	t.Helper()
	got, err := db.Invitations().Invitations(t.Context(), org)
	must(t, err)
	if diff := cmp.Diff(append([]members.Invitation{}, want...), got); diff != "" {
		t.Errorf("Invitations (-want +got):\n%s", diff)
	}
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org, ada := t.Context(), db.Invitations(), newOrg(t, db), core.NewID()
		first, second := newInvitation(t, db, org, ada), newInvitation(t, db, org, access.Operator)
		other := newInvitation(t, db, newOrg(t, db), ada)
		wantInvitations(t, db, org, second, first)
		wantCode(t, "an invitation twice", store.InsertInvitation(ctx, first), core.CodeConflict)
		got, err := store.InvitationByHash(ctx, first.Hash)
		must(t, err)
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("InvitationByHash (-want +got):\n%s", diff)
		}
		for _, hash := range [][]byte{nil, {}, []byte("guess")} {
			_, err := store.InvitationByHash(ctx, hash)
			wantCode(t, "a guess", err, core.CodeNotFound)
		}

		if n, err := store.DeleteInvitationsBy(ctx, org, ada); n != 1 || err != nil {
			t.Errorf("%d of a member's invitations deleted, %v", n, err)
		}
		wantInvitations(t, db, org, second)
		wantInvitations(t, db, other.OrgID, other)
		wantOneWinner(t, atOnce(8, func(int) error { return store.DeleteInvitation(ctx, org, second.ID) }), core.CodeNotFound)
		wantInvitations(t, db, org)
	})
}

func TestHoldingMembers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, user := t.Context(), newOrg(t, db), newUser(t, db)
		wantCode(t, "an unknown organization", db.Members().HoldMembers(ctx, core.NewID()), core.CodeNotFound)
		// Each transaction reads the members and adds one only if there is none. HoldMembers
		// makes them run one after the other, so that only one adds a member.
		outcomes := atOnce(4, func(int) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				if err := db.Members().HoldMembers(ctx, org); err != nil {
					return err
				}
				all, err := db.Members().Members(ctx, org)
				if err == nil && len(all) > 0 {
					return core.Conflict("There is a member.", "")
				}
				if err != nil {
					return err
				}
				return db.Members().SetMember(ctx, members.Member{OrgID: org, UserID: user.ID, Role: members.Owner})
			})
		})
		wantOneWinner(t, outcomes, core.CodeConflict)
	})
}

func TestRevokeGrantsOfUser(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org := newOrg(t, db)
		his, others := newGrant(t, db, org), newGrant(t, db, org)
		for _, want := range [][]string{{his.ID}, nil} {
			got, err := db.Grants().RevokeGrantsOfUser(t.Context(), org, his.UserID, later(1))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("revoked (-want +got):\n%s", diff)
			}
		}
		remaining, err := db.Grants().Grants(t.Context(), org, access.GrantFilter{Limit: 10})
		must(t, err)
		if diff := cmp.Diff([]access.Grant{others}, remaining); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
	})
}
