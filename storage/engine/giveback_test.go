package engine_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

// TestConnectionsAreGivenBack checks that GiveBack closes all unused SQLite connections
// except one, and leaves those in use open. Later calls must work as before.
func TestConnectionsAreGivenBack(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	openReaders(t, db)
	rows, err := db.Reader().QueryContext(t.Context(), `SELECT 1 UNION ALL SELECT 2`)
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	if open := db.Reader().Stats().OpenConnections; open < 3 {
		t.Fatalf("%d connections read, want several", open)
	}
	// the transaction uses the only connection that writes
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		must(t, db.GiveBack(t.Context()))
		return db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Name: "A", Slug: "a", Tier: "demo", RetentionDays: 365})
	})
	must(t, err)
	if open := db.Reader().Stats().OpenConnections; open != 2 {
		t.Errorf("%d connections read, want that of the call under way and one more", open)
	}
	seen := 0
	for rows.Next() {
		seen++
	}
	if rows.Err() != nil || seen != 2 {
		t.Errorf("the call under way read %d rows, %v", seen, rows.Err())
	}
	must(t, db.GiveBack(t.Context()))
	if open := db.Writer().Stats().OpenConnections; open != 0 {
		t.Errorf("%d connections write, want none", open)
	}
	must(t, db.InTx(t.Context(), func(ctx context.Context) error {
		return db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Name: "B", Slug: "b", Tier: "demo", RetentionDays: 365})
	}))
	openReaders(t, db)
	if ids, err := db.Orgs().OrgIDs(t.Context()); err != nil || len(ids) != 2 {
		t.Errorf("%d organizations, %v", len(ids), err)
	}
}

// openReaders uses five read connections at the same time, or all if the pool has fewer. The
// pool keeps them open afterwards.
func openReaders(t *testing.T, db *database) {
	t.Helper()
	for range min(5, db.Reader().Stats().MaxOpenConnections) {
		conn, err := db.Reader().Conn(t.Context())
		must(t, err)
		defer func() { must(t, conn.Close()) }()
	}
}

// TestConnectionsToPostgresStay checks that GiveBack closes no connection to PostgreSQL.
// Closing one would free no cached pages in this process, because the server has them.
func TestConnectionsToPostgresStay(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	openReaders(t, db)
	before := db.Reader().Stats().OpenConnections
	if before < 2 {
		t.Fatalf("%d connections read, want several", before)
	}
	must(t, db.GiveBack(t.Context()))
	if after := db.Reader().Stats().OpenConnections; after != before {
		t.Errorf("%d connections of %d stay", after, before)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestBulkIsExpectedUntilGiveBack checks that ExpectBulk enlarges the cache of the connection that
// writes, and that GiveBack ends this. A database in PostgreSQL ignores the call.
func TestBulkIsExpectedUntilGiveBack(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	size := func() (kilobytes int) {
		must(t, db.Writer().QueryRowContext(t.Context(), "PRAGMA cache_size").Scan(&kilobytes))
		return -kilobytes
	}
	before := size()
	must(t, db.ExpectBulk(t.Context()))
	if got := size(); got != 65536 {
		t.Errorf("a cache of %d KB", got)
	}
	must(t, db.GiveBack(t.Context()))
	if got := size(); got != before {
		t.Errorf("afterwards a cache of %d KB, want %d", got, before)
	}
	must(t, postgresDatabase(t).ExpectBulk(t.Context()))
}
