package access_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestRevokingAGrant(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		user := access.User{ID: core.NewID(), Email: "ann@example.org", Name: "Ann", PasswordHash: "x", CreatedAt: g.clock()}
		g.must(g.db.Users().InsertUser(ctx, user))
		client, _, err := g.lifecycle().CreateClient(ctx, operator, g.newClient())
		g.must(err)
		grant := access.Grant{
			ID: core.NewID(), OrgID: g.org.ID, UserID: user.ID, ClientID: client.ClientID, Resource: access.API,
			Scopes: core.NewScopes("api.lists.view"), CreatedAt: g.clock(),
		}
		g.must(db.Grants().InsertGrant(ctx, grant))

		_, err = g.lifecycle().RevokeGrant(ctx, operator, core.NewID(), grant.ID)
		g.wantCode("another organization's", err, core.CodeNotFound)
		forgotten := &forgotten{}
		l := g.lifecycle()
		l.Principals = forgotten
		for range 2 { // the second changes nothing
			revoked, err := l.RevokeGrant(ctx, access.ActorOf(user.ID), g.org.ID, grant.ID)
			if err != nil || revoked.RevokedAt == nil || !revoked.RevokedAt.Equal(g.clock()) {
				t.Errorf("%+v, %v", revoked, err)
			}
		}
		if len(forgotten.grants) != 2 || forgotten.grants[0] != grant.ID {
			t.Errorf("forgotten: %v", forgotten.grants)
		}
		lines := g.auditLines()
		if len(lines) != 2 || lines[1] != (line{"oauth_grant.revoked", "user " + user.ID, grant.ID, "{}"}) {
			t.Errorf("lines %v", lines)
		}
	})
}
