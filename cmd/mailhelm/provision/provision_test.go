package provision_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var someTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func on(db *storage.DB) provision.Provisioner {
	return provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: func() time.Time { return someTime }}
}

func TestWhatIsGivenOutOpens(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		a, ctx := on(db), t.Context()
		org, err := a.CreateOrg(ctx, core.Org{Name: "Acme", Slug: "acme", Tier: "free", RetentionDays: 30})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.CreateOwner(ctx, org.ID, "ada@example.com", "Ada", "correct horse"); err != nil {
			t.Fatal(err)
		}
		g := provision.Grant{OrgID: org.ID, Name: "CI", Environment: core.Test, Scopes: core.NewScopes("api.contacts.view")}
		client, clientSecret, err := a.CreateClient(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		key, keySecret, err := a.CreateAPIKey(ctx, g)
		if err != nil {
			t.Fatal(err)
		}

		user, err := db.Users().UserByEmail(ctx, "ada@example.com")
		if ok, verifyErr := passwords.Verify(user.PasswordHash, "correct horse"); err != nil || verifyErr != nil || !ok {
			t.Errorf("the password does not open the user: %v %v", err, verifyErr)
		}
		stored, err := db.Clients().Client(ctx, client.ClientID)
		if err != nil || !access.SecretMatches(stored.SecretHash, clientSecret) || stored.Environment != core.Test {
			t.Errorf("the secret does not open the client: %+v %v", stored, err)
		}
		keys, err := db.Keys().APIKeys(ctx, core.Test, key.Prefix)
		if err != nil || len(keys) != 1 || !access.SecretMatches(keys[0].SecretHash, keySecret) {
			t.Errorf("the secret does not open the key: %+v %v", keys, err)
		}

		events, err := db.Audit().FindAudit(ctx, org.ID, access.AuditFilter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		subjects := map[string]string{}
		for _, e := range events {
			subjects[e.Action] = e.SubjectID
		}
		want := map[string]string{"org.created": org.ID, "member.added": user.ID, "oauth_client.created": client.ID, "api_key.created": key.ID}
		if diff := cmp.Diff(want, subjects); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFailedCreationLeavesNoAuditLine(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	a, ctx := on(db), t.Context()
	org, err := a.CreateOrg(ctx, core.Org{Name: "Acme", Slug: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateOrg(ctx, core.Org{Name: "Acme again", Slug: "acme"}); core.AsError(err).Code != core.CodeConflict {
		t.Errorf("taken slug: %v, want a conflict", err)
	}
	if _, err := a.CreateOwner(ctx, org.ID, "ada@example.com", "Ada", ""); err == nil {
		t.Error("an empty password was taken")
	}
	ids, err := db.Orgs().OrgIDs(ctx)
	if err != nil || len(ids) != 1 {
		t.Errorf("organizations %v %v, want one", ids, err)
	}
	if events, err := db.Audit().FindAudit(ctx, org.ID, access.AuditFilter{Limit: 10}); err != nil || len(events) != 1 {
		t.Errorf("audit lines %v %v, want the one of the organization", events, err)
	}
}
