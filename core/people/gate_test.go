package people_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/storage"
)

const (
	email     = peopletest.Email
	password  = peopletest.Password
	otherSide = peopletest.OtherSide
)

var start = peopletest.Start

// gate is a fixture of these tests: a database with one organization, and a clock that the
// test advances.
type gate struct {
	t   testing.TB
	db  *storage.DB
	org core.Org

	mu  sync.Mutex
	now time.Time
}

func newGate(t testing.TB, db *storage.DB) *gate {
	t.Helper()
	g := &gate{t: t, db: db, now: start}
	g.org = core.Org{ID: core.NewID(), Name: "Acme", Slug: "acme", Tier: "team", RetentionDays: 90}
	g.must(db.Orgs().InsertOrg(t.Context(), g.org))
	return g
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

// line has the parts of an audit event that the tests compare.
type line struct{ Action, Actor, Subject, Detail string }

// auditLines returns the organization's audit events, oldest first.
func (g *gate) auditLines() []line {
	g.t.Helper()
	events, err := g.db.Audit().AuditEvents(g.t.Context(), g.org.ID, 100)
	g.must(err)
	var lines []line
	for _, e := range events {
		lines = append([]line{{e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail}}, lines...)
	}
	return lines
}

// before is a core.Transactor that calls the function in its field happens before each
// transaction.
type before struct {
	core.Transactor
	happens func()
}

func (b before) InTx(ctx context.Context, do func(context.Context) error) error {
	b.happens()
	return b.Transactor.InTx(ctx, do)
}
