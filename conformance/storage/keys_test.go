package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func newAPIKey(org string, at int) access.APIKey {
	return access.APIKey{
		ID: core.NewID(), OrgID: org, Name: "ci", Environment: core.Live, Prefix: "ABCDEFGH", SecretHash: []byte{7},
		Scopes: core.NewScopes("api.contacts.view"), CreatedAt: later(at),
	}
}

func TestAPIKeysOfAnOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		first, second := newAPIKey(org, 0), newAPIKey(org, 1)
		for _, k := range []access.APIKey{first, second, newAPIKey(newOrg(t, db), 2)} {
			must(t, db.Keys().InsertAPIKey(ctx, k))
		}
		must(t, db.Keys().SetAPIKeyScopes(ctx, org, first.ID, core.NewScopes("api.lists.view")))
		must(t, db.Keys().SetAPIKeyExpiry(ctx, org, first.ID, later(60)))
		must(t, db.Keys().RevokeAPIKey(ctx, org, first.ID, later(30)))
		expires, revoked := later(60), later(30)
		first.Scopes, first.ExpiresAt, first.RevokedAt = core.NewScopes("api.lists.view"), &expires, &revoked
		all, err := db.Keys().APIKeysOf(ctx, org)
		must(t, err)
		if diff := cmp.Diff([]access.APIKey{second, first}, all); diff != "" {
			t.Errorf("APIKeysOf (-want +got):\n%s", diff)
		}
		one, err := db.Keys().APIKey(ctx, org, first.ID)
		must(t, err)
		if diff := cmp.Diff(first, one); diff != "" {
			t.Errorf("APIKey (-want +got):\n%s", diff)
		}
		_, err = db.Keys().APIKey(ctx, org, core.NewID())
		wantCode(t, "an unknown key", err, core.CodeNotFound)
		wantCode(t, "an unknown key's scopes", db.Keys().SetAPIKeyScopes(ctx, org, core.NewID(), nil), core.CodeNotFound)
		wantCode(t, "an unknown key's expiry", db.Keys().SetAPIKeyExpiry(ctx, org, core.NewID(), start), core.CodeNotFound)
	})
}

func TestAPIKeysPastGrace(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, ids := t.Context(), map[string]string{}
		for name, end := range map[string]int{"early": 1, "due": 10, "later": 11, "revoked": 2} {
			key, at := newAPIKey(newOrg(t, db), 0), later(end)
			key.ExpiresAt, ids[key.ID] = &at, name
			if name == "revoked" {
				key.RevokedAt = &at
			}
			must(t, db.Keys().InsertAPIKey(ctx, key))
		}
		must(t, db.Keys().InsertAPIKey(ctx, newAPIKey(newOrg(t, db), 0))) // a key without ExpiresAt, because it was never rotated
		for limit, want := range map[int][]string{1: {"early"}, 10: {"early", "due"}} {
			keys, err := db.Keys().APIKeysPastGrace(ctx, later(10), limit)
			must(t, err)
			var got []string
			for _, k := range keys {
				got = append(got, ids[k.ID])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("limit %d (-want +got):\n%s", limit, diff)
			}
		}
	})
}

// TestAPIKeyIsHeldInATransaction checks that reading an API key in a transaction locks the
// key. Concurrent transactions that read the key and then add a scope must run one after
// the other, so that no added scope is lost.
func TestAPIKeyIsHeldInATransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, catalogue := newOrg(t, db), core.AllScopes()
		key := newAPIKey(org, 0)
		key.Scopes = nil
		must(t, db.Keys().InsertAPIKey(t.Context(), key))
		const writers = 8
		for _, err := range atOnce(writers, func(i int) error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				k, err := db.Keys().APIKey(ctx, org, key.ID)
				if err != nil {
					return err
				}
				return db.Keys().SetAPIKeyScopes(ctx, org, key.ID, core.NewScopes(append(k.Scopes.Strings(), string(catalogue[i]))...))
			})
		}) {
			must(t, err)
		}
		got, err := db.Keys().APIKey(t.Context(), org, key.ID)
		must(t, err)
		if len(got.Scopes) != writers {
			t.Errorf("%d scopes, want %d: somebody's change was lost", len(got.Scopes), writers)
		}
	})
}

func TestClientsOfAnOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		client := access.Client{
			ID: core.NewID(), ClientID: "oc_live_A", OrgID: org, Name: "agent", Environment: core.Live, SecretHash: []byte{1},
			Scopes: core.NewScopes("api.contacts.view"), RefreshDays: 30, Kind: access.RegisteredClient, CreatedAt: start,
		}
		newer := client
		newer.ID, newer.ClientID, newer.CreatedAt = core.NewID(), "oc_live_B", later(1)
		must(t, db.Clients().InsertClient(ctx, client))
		must(t, db.Clients().InsertClient(ctx, newer))
		client.Name, client.Scopes, client.RefreshDays = "other", core.NewScopes("api.lists.view"), 365
		client.RedirectURIs = []string{"https://a.example.com/cb?x=1&y=2", "http://localhost/cb"}
		must(t, db.Clients().SetClient(ctx, client))
		all, err := db.Clients().ClientsOf(ctx, org)
		must(t, err)
		if diff := cmp.Diff([]access.Client{newer, client}, all); diff != "" {
			t.Errorf("ClientsOf (-want +got):\n%s", diff)
		}
		one, err := db.Clients().ClientByID(ctx, org, client.ID)
		must(t, err)
		if diff := cmp.Diff(client, one); diff != "" {
			t.Errorf("ClientByID (-want +got):\n%s", diff)
		}
		_, err = db.Clients().ClientByID(ctx, org, core.NewID())
		wantCode(t, "an unknown client", err, core.CodeNotFound)
		client.ID = core.NewID()
		wantCode(t, "an unknown client changed", db.Clients().SetClient(ctx, client), core.CodeNotFound)
	})
}

// keyCalls returns calls of the stores of API keys and OAuth clients. In each call, the
// organization with the id org uses an object of o, which is another organization.
func keyCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.client
	stolen.OrgID, stolen.Name = org, "stolen"
	return map[string]storeCall{
		"APIKeysOf": func(t *testing.T, db *storage.DB) (any, error) { return db.Keys().APIKeysOf(t.Context(), org) },
		"APIKey": func(t *testing.T, db *storage.DB) (any, error) {
			k, err := db.Keys().APIKey(t.Context(), org, o.apiKey.ID)
			return k.ID, err
		},
		"SetAPIKeyScopes": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Keys().SetAPIKeyScopes(t.Context(), org, o.apiKey.ID, core.AllScopes())
		},
		"SetAPIKeyExpiry": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Keys().SetAPIKeyExpiry(t.Context(), org, o.apiKey.ID, later(1))
		},
		"ClientsOf": func(t *testing.T, db *storage.DB) (any, error) { return db.Clients().ClientsOf(t.Context(), org) },
		"ClientByID": func(t *testing.T, db *storage.DB) (any, error) {
			c, err := db.Clients().ClientByID(t.Context(), org, o.client.ID)
			return c.ID, err
		},
		"SetClientSecret": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Clients().SetClientSecret(t.Context(), org, o.client.ID, []byte("stolen"))
		},
		"SetClient": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Clients().SetClient(t.Context(), stolen)
		},
	}
}
