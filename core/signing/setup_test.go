package signing_test

import (
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// gate is the fixture of these tests: a database with one organization, and a clock that
// the test advances.
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
