package members_test

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

// gate is the fixture of these tests: a database with one organization, and a clock that
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
	g.must(db.Orgs().InsertOrg(t.Context(), g.org))
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

func (g *gate) wantCode(what string, err error, code core.Code) {
	g.t.Helper()
	if err == nil || core.AsError(err).Code != code {
		g.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// key stores an API key of the organization and returns its secret.
func (g *gate) key() string {
	g.t.Helper()
	minted := access.MintAPIKey(core.Live)
	g.must(g.db.Keys().InsertAPIKey(g.t.Context(), access.APIKey{
		ID: core.NewID(), OrgID: g.org.ID, Name: "key", Environment: core.Live, Prefix: minted.Prefix, SecretHash: minted.Hash,
		Scopes: core.NewScopes("api.account.view"), CreatedAt: start,
	}))
	return minted.Secret
}

var operator = access.ActorOf(access.Operator)

// line has the parts of an audit event that the tests compare.
type line struct{ Action, Actor, Subject, Detail string }

// auditLines returns the organization's audit events, oldest first.
func (g *gate) auditLines() []line {
	g.t.Helper()
	events, err := g.db.Audit().FindAudit(g.t.Context(), g.org.ID, access.AuditFilter{Limit: 100})
	g.must(err)
	var lines []line
	for _, e := range events {
		if e.OrgID != g.org.ID || e.OccurredAt.IsZero() {
			g.t.Errorf("event %+v", e)
		}
		lines = append([]line{{e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail}}, lines...)
	}
	return lines
}
