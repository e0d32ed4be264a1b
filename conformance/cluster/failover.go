package main

import (
	"context"
	"database/sql"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver of the statements that set up replication
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// failOver lets the standby take the place of the primary, which was killed, in the steps of the
// guide for operators. Then the former primary becomes the standby of the new one, with a copy of its
// data. The standby must be synchronous, so that it has all commits that were answered.
func (t *topology) failOver(tb testing.TB) {
	tb.Helper()
	t.standby.Promote(tb)
	t.primary, t.standby = t.standby, t.primary
	// Without a standby, commits would wait for one.
	setSynchronous(tb, t.primary, "")
	t.bouncer.Repoint(tb, t.primary.URL())
	t.standby.Follow(tb, t.primary)
	makeSynchronous(tb, t.primary)
}

// anyURL returns the address of the server that has the role, "primary" or "standby".
func (t *topology) anyURL(role string) string {
	return enginetest.AnyURL(role, t.primary, t.standby)
}

// makeSynchronous lets commits of the primary wait for its standby, and returns when they do.
func makeSynchronous(tb testing.TB, primary *enginetest.Server) {
	tb.Helper()
	setSynchronous(tb, primary, "*")
	awaitSynchronous(tb, primary)
}

// setSynchronous sets for which standbys commits wait.
func setSynchronous(tb testing.TB, primary *enginetest.Server, names string) {
	tb.Helper()
	execute(tb, primary, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
	execute(tb, primary, "SELECT pg_reload_conf()")
}

// awaitSynchronous waits until the standby of the primary has all commits.
func awaitSynchronous(tb testing.TB, primary *enginetest.Server) {
	tb.Helper()
	db := openServer(tb, primary)
	defer db.Close() //nolint:errcheck // nothing is lost
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		var synchronous int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'").Scan(&synchronous); err != nil {
			tb.Fatalf("the standby does not become synchronous: %v", err)
		}
		if synchronous == 1 {
			return
		}
		<-again.C
	}
}

func execute(tb testing.TB, server *enginetest.Server, statement string) {
	tb.Helper()
	db := openServer(tb, server)
	defer db.Close() //nolint:errcheck // nothing is lost
	if _, err := db.ExecContext(tb.Context(), statement); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}

func openServer(tb testing.TB, server *enginetest.Server) *sql.DB {
	tb.Helper()
	db, err := sql.Open("postgres", server.URL())
	if err != nil {
		tb.Fatal(err)
	}
	return db
}
