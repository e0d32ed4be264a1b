package access_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// gate is the fixture of these tests: an organization on a real database, with a clock that
// the test advances.
type gate struct {
	t   testing.TB
	db  *storage.DB
	org core.Org
	// auth has cached principals that the operations must remove.
	auth *bearer.Authenticator

	mu  sync.Mutex
	now time.Time
}

func newGate(t testing.TB, db *storage.DB) *gate {
	t.Helper()
	g := &gate{t: t, db: db, now: start}
	g.org = core.Org{ID: core.NewID(), Name: "Acme", Slug: "acme", Tier: "team", RetentionDays: 90}
	g.must(g.db.Orgs().InsertOrg(t.Context(), g.org))
	g.auth = bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: noTokens{}, Clock: g.clock,
	})
	return g
}

// noTokens accepts no access token.
type noTokens struct{}

func (noTokens) VerifyToken(context.Context, string, access.Resource) (bearer.Token, error) {
	return bearer.Token{}, errors.New("unreadable")
}

func (g *gate) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) clock() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *gate) advance(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}
