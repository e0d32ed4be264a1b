package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const documentID = "https://agent.example/client.json"

func newDocumentClient(at int) access.Client {
	read := later(at)
	return access.Client{
		ID: core.NewID(), ClientID: documentID, Name: "Agent", Environment: core.Live, Kind: access.DocumentClient,
		RedirectURIs: []string{"https://agent.example/cb"}, RefreshDays: 30, Scopes: core.NewScopes("api.lists.view"),
		DocumentReadAt: &read, CreatedAt: read,
	}
}

func newDynamicClient(t *testing.T, db *storage.DB, at int) access.Client {
	t.Helper()
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), Name: "Self", Environment: core.Live, Kind: access.DynamicClient,
		RedirectURIs: []string{"http://localhost/cb"}, RefreshDays: 30, Scopes: core.AllScopes(), CreatedAt: later(at),
	}
	must(t, db.Clients().InsertClient(t.Context(), c))
	return c
}

func TestDocumentClientFollowsItsDocument(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, first := t.Context(), newDocumentClient(0)
		saved, err := db.OpenClients().SaveDocumentClient(ctx, first)
		must(t, err)
		if diff := cmp.Diff(first, saved); diff != "" {
			t.Errorf("saved (-want +got):\n%s", diff)
		}
		second := newDocumentClient(60)
		second.Name, second.RedirectURIs, second.Scopes, second.RefreshDays = "Other", []string{}, core.AllScopes(), 90
		saved, err = db.OpenClients().SaveDocumentClient(ctx, second)
		must(t, err)
		want := second // the client as its second document describes it, except for the fields that an update keeps
		want.ID, want.CreatedAt, want.RefreshDays, want.RedirectURIs = first.ID, first.CreatedAt, 30, saved.RedirectURIs
		stored, err := db.Clients().Client(ctx, documentID)
		must(t, err)
		if diff := cmp.Diff(want, saved) + cmp.Diff(want, stored); diff != "" || len(saved.RedirectURIs) != 0 {
			t.Errorf("replaced (-want +got):\n%s", diff)
		}

		taken := newDocumentClient(0)
		taken.ClientID = newDynamicClient(t, db, 0).ClientID
		_, err = db.OpenClients().SaveDocumentClient(ctx, taken)
		wantCode(t, "another kind of client with this id", err, core.CodeConflict)
		if c, err := db.Clients().Client(ctx, taken.ClientID); err != nil || c.Name != "Self" || c.Kind != access.DynamicClient {
			t.Errorf("the other client became %+v, %v", c, err)
		}
	})
}

func TestBlockedClients(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, open, mine, other := t.Context(), db.OpenClients(), newOrg(t, db), newOrg(t, db)
		for i, id := range []string{documentID, "oc_live_A", documentID} { // blocking twice is no error
			must(t, open.BlockClient(ctx, mine, id, later(i)))
		}
		for org, want := range map[string]bool{mine: true, other: false} {
			if blocked, err := open.IsClientBlocked(ctx, org, documentID); err != nil || blocked != want {
				t.Errorf("blocked: %v, %v, want %v", blocked, err, want)
			}
		}
		all, err := open.BlockedClients(ctx, mine)
		must(t, err)
		want := []access.BlockedClient{{OrgID: mine, ClientID: "oc_live_A", BlockedAt: later(1)}, {OrgID: mine, ClientID: documentID, BlockedAt: later(0)}}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("BlockedClients (-want +got):\n%s", diff)
		}
		must(t, open.UnblockClient(ctx, other, documentID))
		for _, want := range []bool{true, false} {
			if blocked, err := open.IsClientBlocked(ctx, mine, documentID); err != nil || blocked != want {
				t.Errorf("blocked: %v, %v, want %v", blocked, err, want)
			}
			for range 2 { // unblocking twice is no error
				must(t, open.UnblockClient(ctx, mine, documentID))
			}
		}
	})
}

// TestUnusedDynamicClientsArePurged checks that the purge deletes old dynamic clients
// without a grant. It keeps a client that has a grant, even a revoked one.
func TestUnusedDynamicClientsArePurged(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		old, young, used := newDynamicClient(t, db, 0), newDynamicClient(t, db, 60), newDynamicClient(t, db, 0)
		document, err := db.OpenClients().SaveDocumentClient(ctx, newDocumentClient(0))
		must(t, err)
		grant := newGrant(t, db, org)
		grant.ID, grant.ClientID = core.NewID(), used.ClientID
		must(t, db.Grants().InsertGrant(ctx, grant))
		must(t, db.Grants().RevokeGrant(ctx, org, grant.ID, later(1)))
		plain := access.Client{ID: core.NewID(), ClientID: "oc_live_plain", OrgID: org, Environment: core.Live, CreatedAt: start}
		must(t, db.Clients().InsertClient(ctx, plain))

		if n, err := db.OpenClients().UnusedDynamicClients(ctx); n != 2 || err != nil {
			t.Errorf("%d unused, %v, want 2", n, err)
		}
		if n, err := db.OpenClients().PurgeDynamicClients(ctx, later(60)); n != 1 || err != nil {
			t.Errorf("%d purged, %v, want 1", n, err)
		}
		_, err = db.Clients().Client(ctx, old.ClientID)
		wantCode(t, "the old one", err, core.CodeNotFound)
		for _, kept := range []string{young.ClientID, used.ClientID, document.ClientID, plain.ClientID} {
			if _, err := db.Clients().Client(ctx, kept); err != nil {
				t.Errorf("%s: %v", kept, err)
			}
		}
	})
}
