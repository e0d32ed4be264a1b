package storage_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// newGrant stores a grant without an expiry time in the organization org, and returns it.
func newGrant(t *testing.T, db *storage.DB, org string) access.Grant {
	t.Helper()
	g := access.Grant{
		ID: core.NewID(), OrgID: org, UserID: core.NewID(), ClientID: "https://client.example/metadata.json",
		Resource: access.Agent, Scopes: core.NewScopes("mcp:tools", "api.contacts.view"), CreatedAt: start,
	}
	must(t, db.Grants().InsertGrant(t.Context(), g))
	return g
}

// wantRevoked fails the test unless the stored grant was revoked at the given time. If at
// is nil, the grant must not be revoked.
func wantRevoked(t *testing.T, db *storage.DB, g access.Grant, at *time.Time) {
	t.Helper()
	got, err := db.Grants().Grant(t.Context(), g.OrgID, g.ID)
	must(t, err)
	if diff := cmp.Diff(at, got.RevokedAt); diff != "" {
		t.Errorf("RevokedAt (-want +got):\n%s", diff)
	}
}

func TestGrantsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		expires, revoked := later(86400), later(5)
		bounded := access.Grant{
			ID: core.NewID(), OrgID: org, UserID: core.NewID(), ClientID: "oc_live_1", Resource: access.API,
			Scopes: core.Scopes{}, CreatedAt: later(1), ExpiresAt: &expires, RevokedAt: &revoked,
		}
		must(t, store.InsertGrant(ctx, bounded))
		for _, want := range []access.Grant{bounded, newGrant(t, db, org)} {
			got, err := store.Grant(ctx, org, want.ID)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Grant (-want +got):\n%s", diff)
			}
		}
		wantCode(t, "an id twice", store.InsertGrant(ctx, bounded), core.CodeConflict)
		_, err := store.Grant(ctx, org, core.NewID())
		wantCode(t, "an unknown grant", err, core.CodeNotFound)
		wantCode(t, "revoking an unknown grant", store.RevokeGrant(ctx, org, core.NewID(), start), core.CodeNotFound)
		if err := store.InsertGrant(ctx, access.Grant{ID: core.NewID(), OrgID: org, Resource: 7}); err == nil {
			t.Error("a grant of no known resource was stored")
		}
	})
}

func TestGrantsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		var ids []string
		for i := range 5 {
			g := access.Grant{ID: core.NewID(), OrgID: org, UserID: "even", ClientID: "old", CreatedAt: later(i / 2)}
			if i%2 == 1 {
				g.UserID, g.Resource = "odd", access.Agent
			}
			if i > 1 {
				g.ClientID = "new"
			}
			must(t, store.InsertGrant(ctx, g))
			ids = append([]string{g.ID}, ids...)
		}
		must(t, store.RevokeGrant(ctx, org, ids[0], later(9)))
		for _, c := range []struct {
			filter access.GrantFilter
			want   []string
		}{
			{access.GrantFilter{Limit: 10}, ids[1:]},
			{access.GrantFilter{Limit: 2}, ids[1:3]},
			{access.GrantFilter{UserID: "odd", Limit: 10}, []string{ids[1], ids[3]}},
			{access.GrantFilter{UserID: "unknown", Limit: 10}, nil},
			{access.GrantFilter{ExceptUserID: "odd", Limit: 10}, []string{ids[2], ids[4]}},
			{access.GrantFilter{ClientID: "old", Limit: 1}, ids[3:4]},
			{access.GrantFilter{AtAgent: true, Limit: 10}, []string{ids[1], ids[3]}},
			{access.GrantFilter{UserID: "odd", ClientID: "new", AtAgent: true, Limit: 10}, ids[1:2]},
		} {
			grants, err := store.Grants(ctx, org, c.filter)
			must(t, err)
			var got []string
			for _, g := range grants {
				got = append(got, g.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Grants that match %+v: %v, want %v", c.filter, got, c.want)
			}
		}
	})
}

func TestRevokingGrants(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		first, second, third := newGrant(t, db, org), newGrant(t, db, org), newGrant(t, db, org)
		elsewhere := newGrant(t, db, newOrg(t, db)) // a grant to the same client in another organization
		other := access.Grant{ID: core.NewID(), OrgID: org, ClientID: "oc_live_other", CreatedAt: start}
		must(t, store.InsertGrant(ctx, other))

		once, again := later(1), later(2)
		must(t, store.RevokeGrant(ctx, org, first.ID, once))
		must(t, store.RevokeGrant(ctx, org, first.ID, again))
		ids, err := store.RevokeGrantsOf(ctx, org, first.ClientID, again)
		must(t, err)
		slices.Sort(ids)
		want := []string{second.ID, third.ID}
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Errorf("RevokeGrantsOf = %v, want %v", ids, want)
		}
		wantRevoked(t, db, first, &once)
		wantRevoked(t, db, second, &again)
		wantRevoked(t, db, third, &again)
		wantRevoked(t, db, other, nil)
		wantRevoked(t, db, elsewhere, nil)
	})
}

func TestDenylist(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, id := t.Context(), db.Grants(), core.NewID()
		denied := func() bool {
			t.Helper()
			found, err := db.Tokens().IsTokenDenied(ctx, id)
			must(t, err)
			return found
		}
		if denied() {
			t.Error("a token was denied before it was")
		}
		must(t, db.Tokens().DenyToken(ctx, id, later(60)))
		must(t, db.Tokens().DenyToken(ctx, id, later(60)))
		if !denied() {
			t.Error("a denied token is not denied")
		}
		if n, err := store.PurgeGrants(ctx, later(59)); err != nil || n != 0 || !denied() {
			t.Errorf("a purge before it expires: %d, %v", n, err)
		}
		if n, err := store.PurgeGrants(ctx, later(60)); err != nil || n != 1 || denied() {
			t.Errorf("a purge when it expires: %d, %v", n, err)
		}
	})
}
