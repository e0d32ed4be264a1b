package access_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const documentID = "https://agent.example/client.json"

// storeGrant stores a grant by which a person gives the client access. It returns the
// grant's id.
func (g *gate) storeGrant(clientID string) string {
	g.t.Helper()
	grant := access.Grant{ID: core.NewID(), OrgID: g.org.ID, UserID: core.NewID(), ClientID: clientID, CreatedAt: g.clock()}
	g.must(g.db.Grants().InsertGrant(g.t.Context(), grant))
	return grant.ID
}

func (g *gate) grantLives(id string) bool {
	g.t.Helper()
	grant, err := g.db.Grants().Grant(g.t.Context(), g.org.ID, id)
	g.must(err)
	return grant.RevokedAt == nil
}

// forgotten is a Forgetter that records the ids of the grants passed to ForgetGrant.
type forgotten struct{ grants []string }

func (*forgotten) Forget(string) {}

func (f *forgotten) ForgetGrant(id string) { f.grants = append(f.grants, id) }

func TestBlockingEndsGrants(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		l := g.lifecycle()
		forgotten := &forgotten{}
		l.Principals = forgotten
		first, other := g.storeGrant(documentID), g.storeGrant("https://other.example/client.json")
		for range 2 { // the second call changes nothing
			g.must(l.BlockClient(ctx, operator, g.org.ID, documentID))
		}
		slipped := g.storeGrant(documentID) // a grant that was approved while the client was being blocked
		for range 2 {
			g.must(l.UnblockClient(ctx, operator, g.org.ID, documentID))
		}
		if g.grantLives(first) || g.grantLives(slipped) || !g.grantLives(other) {
			t.Error("the wrong grants live")
		}
		if diff := cmp.Diff([]string{first, slipped}, forgotten.grants); diff != "" {
			t.Errorf("forgotten (-want +got):\n%s", diff)
		}
		by, detail := "operator operator", `{"client_id":"`+documentID+`"}`
		want := []line{{"oauth_client.blocked", by, "", detail}, {"oauth_client.unblocked", by, "", detail}}
		if diff := cmp.Diff(want, g.auditLines()); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

func TestClientsThatCannotBeBlocked(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	l, ctx := g.lifecycle(), t.Context()
	own, _, err := l.CreateClient(ctx, operator, g.newClient())
	g.must(err)
	elsewhere := access.Client{ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: core.NewID(), Environment: core.Live, CreatedAt: start}
	g.must(g.db.Clients().InsertClient(ctx, elsewhere))
	for clientID, code := range map[string]core.Code{
		own.ClientID: core.CodeConflict, elsewhere.ClientID: core.CodeNotFound, access.MintClientID(core.Live): core.CodeNotFound,
		"": core.CodeNotFound, "http://agent.example/client.json": core.CodeNotFound, "https://agent.example": core.CodeNotFound,
		"https://Agent.example/client.json": core.CodeNotFound, "https://agent.example:443/client.json": core.CodeNotFound,
		documentID + "?x": core.CodeNotFound, documentID + "#x": core.CodeNotFound, "https://u@agent.example/client.json": core.CodeNotFound,
	} {
		g.wantCode(clientID, l.BlockClient(ctx, operator, g.org.ID, clientID), code)
	}
	g.wantCode("an unknown organization", l.BlockClient(ctx, operator, core.NewID(), documentID), core.CodeNotFound)
}

func TestRevokingAClientEndsItsGrants(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		l := g.lifecycle()
		forgotten := &forgotten{}
		l.Principals = forgotten
		c, _, err := l.CreateClient(ctx, operator, g.newClient())
		g.must(err)
		grant := g.storeGrant(c.ClientID)
		_, err = l.RevokeClient(ctx, operator, g.org.ID, c.ID)
		g.must(err)
		if g.grantLives(grant) || !cmp.Equal(forgotten.grants, []string{grant}) {
			t.Errorf("lives %v, forgotten %v", g.grantLives(grant), forgotten.grants)
		}
	})
}

// TestBlockingAnInvalidClientID checks that invalid client ids are refused before the
// query, because a database rejects text with some bytes, such as NUL.
func TestBlockingAnInvalidClientID(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		for _, clientID := range []string{"\x00", "\xff", documentID + "\x00", "oc_live_\x00", "x\xc3\x28"} {
			g.wantCode("blocking", g.lifecycle().BlockClient(t.Context(), operator, g.org.ID, clientID), core.CodeNotFound)
			g.wantCode("unblocking", g.lifecycle().UnblockClient(t.Context(), operator, g.org.ID, clientID), core.CodeNotFound)
		}
	})
}
