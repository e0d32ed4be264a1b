package storage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestOrgs(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		limit := 600
		org := core.Org{ID: core.NewID(), Name: "Größe & Co", Slug: "groesse", Tier: "business", RetentionDays: 90, RateLimit: &limit, GitConnected: true}
		must(t, db.Orgs().InsertOrg(ctx, org))
		for what, find := range map[string]func() (core.Org, error){
			"Org":       func() (core.Org, error) { return db.Orgs().Org(ctx, org.ID) },
			"OrgBySlug": func() (core.Org, error) { return db.Orgs().OrgBySlug(ctx, org.Slug) },
		} {
			got, err := find()
			must(t, err)
			if diff := cmp.Diff(org, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		must(t, db.Orgs().SetRateLimit(ctx, org.ID, nil))
		if got, err := db.Orgs().Org(ctx, org.ID); err != nil || got.RateLimit != nil {
			t.Errorf("cleared rate limit: %v, %v", got.RateLimit, err)
		}

		wantCode(t, "a taken slug", db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Slug: org.Slug}), core.CodeConflict)
		_, err := db.Orgs().Org(ctx, core.NewID())
		wantCode(t, "an unknown org", err, core.CodeNotFound)
		_, err = db.Orgs().OrgBySlug(ctx, "Groesse")
		wantCode(t, "another slug", err, core.CodeNotFound)
		wantCode(t, "an unknown org's limit", db.Orgs().SetRateLimit(ctx, core.NewID(), &limit), core.CodeNotFound)
	})
}

func TestUsers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		user := access.User{ID: core.NewID(), Email: "Ada@Example.com", Name: "Ada", PasswordHash: "$argon2id$x", CreatedAt: start}
		must(t, db.Users().InsertUser(ctx, user))
		got, err := db.Users().UserByEmail(ctx, "ada@example.COM")
		must(t, err)
		if diff := cmp.Diff(user, got); diff != "" {
			t.Errorf("UserByEmail (-want +got):\n%s", diff)
		}
		again := user
		again.ID, again.Email = core.NewID(), "ADA@example.com"
		wantCode(t, "the address in other case", db.Users().InsertUser(ctx, again), core.CodeConflict)
		_, err = db.Users().UserByEmail(ctx, "eve@example.com")
		wantCode(t, "an unknown user", err, core.CodeNotFound)

		org := newOrg(t, db)
		must(t, db.Members().AddMember(ctx, org, user.ID, "owner"))
		wantCode(t, "a member twice", db.Members().AddMember(ctx, org, user.ID, "member"), core.CodeConflict)
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		expires := later(86400)
		key := access.APIKey{
			ID: core.NewID(), OrgID: org, Name: "ci", Environment: core.Test, Prefix: "abcd1234",
			SecretHash: []byte{0, 1, 255}, Scopes: core.NewScopes("api.contacts.view", "api.lists.view"), CreatedAt: start, ExpiresAt: &expires,
		}
		twin := key // twin is a second API key with the same prefix, in another organization
		twin.ID, twin.OrgID, twin.ExpiresAt = core.NewID(), newOrg(t, db), nil
		must(t, db.Keys().InsertAPIKey(ctx, key))
		must(t, db.Keys().InsertAPIKey(ctx, twin))
		must(t, db.Keys().RevokeAPIKey(ctx, org, key.ID, later(1)))
		must(t, db.Keys().RevokeAPIKey(ctx, org, key.ID, later(2)))
		revoked := later(1)
		key.RevokedAt = &revoked

		keys, err := db.Keys().APIKeys(ctx, core.Test, "abcd1234")
		must(t, err)
		byID := cmp.Transformer("byID", func(keys []access.APIKey) map[string]access.APIKey {
			m := map[string]access.APIKey{}
			for _, k := range keys {
				m[k.ID] = k
			}
			return m
		})
		if diff := cmp.Diff([]access.APIKey{key, twin}, keys, byID); diff != "" {
			t.Errorf("APIKeys (-want +got):\n%s", diff)
		}
		for _, other := range []struct {
			env    core.Environment
			prefix string
		}{{core.Live, "abcd1234"}, {core.Test, "ABCD1234"}, {core.Test, ""}} {
			if keys, err := db.Keys().APIKeys(ctx, other.env, other.prefix); err != nil || len(keys) != 0 {
				t.Errorf("APIKeys(%v) found %d, %v", other, len(keys), err)
			}
		}
		wantCode(t, "a key's id twice", db.Keys().InsertAPIKey(ctx, key), core.CodeConflict)
		wantCode(t, "an unknown key", db.Keys().RevokeAPIKey(ctx, org, core.NewID(), start), core.CodeNotFound)
	})
}

func TestClients(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		client := access.Client{
			ID: core.NewID(), ClientID: "oc_live_1", OrgID: org, Name: "agent", Environment: core.Live,
			Scopes: core.NewScopes("mcp:tools", "api.contacts.view"), CreatedAt: start,
			RedirectURIs: []string{"https://a.example/callback?x=<&>", "http://127.0.0.1/cb"}, RefreshDays: 90, Kind: access.RegisteredClient,
		}
		must(t, db.Clients().InsertClient(ctx, client))
		must(t, db.Clients().RevokeClient(ctx, org, client.ID, later(5)))
		revoked := later(5)
		client.RevokedAt = &revoked
		got, err := db.Clients().Client(ctx, "oc_live_1")
		must(t, err)
		if diff := cmp.Diff(client, got); diff != "" {
			t.Errorf("Client (-want +got):\n%s", diff)
		}
		plain := access.Client{ID: core.NewID(), ClientID: "oc_live_2", OrgID: org, Environment: core.Live, Scopes: core.Scopes{}, Kind: access.RegisteredClient, CreatedAt: start}
		must(t, db.Clients().InsertClient(ctx, plain))
		got, err = db.Clients().Client(ctx, plain.ClientID)
		must(t, err)
		if diff := cmp.Diff(plain, got); diff != "" {
			t.Errorf("a client without redirect URIs (-want +got):\n%s", diff)
		}
		again := client
		again.ID, again.OrgID = core.NewID(), newOrg(t, db)
		wantCode(t, "a client id of another org", db.Clients().InsertClient(ctx, again), core.CodeConflict)
		_, err = db.Clients().Client(ctx, "OC_LIVE_1")
		wantCode(t, "an unknown client", err, core.CodeNotFound)
		wantCode(t, "an unknown client", db.Clients().RevokeClient(ctx, org, core.NewID(), start), core.CodeNotFound)
	})
}

func TestSigningKeysAdmitOneThatIsNotRetired(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		retired := later(-60)
		old := signing.Key{ID: "old", Algorithm: "ES256", Sealed: []byte{1}, CreatedAt: later(-120), RetiredAt: &retired}
		if ok, err := db.SigningKeys().InsertSigningKey(ctx, old); err != nil || !ok {
			t.Fatalf("a retired key: %v, %v", ok, err)
		}
		const racers = 20
		won := make([]bool, racers)
		for _, err := range atOnce(racers, func(i int) error {
			var err error
			won[i], err = db.SigningKeys().InsertSigningKey(ctx, signing.Key{ID: fmt.Sprint(i), Algorithm: "ES256", Sealed: []byte{2}, CreatedAt: start})
			return err
		}) {
			must(t, err)
		}
		winners := 0
		for _, w := range won {
			if w {
				winners++
			}
		}
		keys, err := db.SigningKeys().SigningKeys(ctx)
		must(t, err)
		if winners != 1 || len(keys) != 2 || keys[0].RetiredAt != nil || keys[1].ID != "old" {
			t.Errorf("%d winners, keys %v", winners, keys)
		}
		if diff := cmp.Diff(old, keys[1]); diff != "" {
			t.Errorf("SigningKeys (-want +got):\n%s", diff)
		}
	})
}

func TestAudit(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		var newest access.AuditEvent
		for i := range 5 {
			newest = access.AuditEvent{
				ID: core.NewID(), OrgID: org, OccurredAt: later(i / 2), Action: "contacts_upsert", ActorKind: "api_key",
				ActorID: core.NewID(), Surface: core.Agent, SubjectID: core.NewID(), RequestID: "r", Detail: `{"n":1}`,
			}
			must(t, db.Audit().AppendAudit(ctx, newest))
		}
		events, err := db.Audit().FindAudit(ctx, org, access.AuditFilter{Limit: 3})
		must(t, err)
		if len(events) != 3 {
			t.Fatalf("%d events, want 3", len(events))
		}
		if diff := cmp.Diff(newest, events[0]); diff != "" {
			t.Errorf("the newest (-want +got):\n%s", diff)
		}
		if a, b := events[1], events[2]; a.OccurredAt.Before(b.OccurredAt) || (a.OccurredAt.Equal(b.OccurredAt) && a.ID < b.ID) {
			t.Errorf("not newest first: %v, %v", a, b)
		}
	})
}
