package enginetest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// Each runs a test on both database engines, as the subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, db *engine.DB)) {
	t.Helper()
	EachEngine(t, func(t *testing.T, postgres bool) {
		if postgres {
			test(t, Postgres(t))
		} else {
			test(t, SQLite(t))
		}
	})
}

// EachEngine runs a test twice, in parallel: as the subtest "sqlite" with postgres false, and
// as the subtest "postgres" with postgres true. It opens no database.
func EachEngine(t *testing.T, test func(t *testing.T, postgres bool)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, engine == "postgres")
		})
	}
}

// OnceEngine runs a test on SQLite, as the subtest "sqlite" with postgres false. If
// MAILHELM_TEST_FULL is "1" it runs the test like [EachEngine]. It opens no database. It is for
// tests whose result cannot depend on the engine (core/doc/decisions/0072).
func OnceEngine(t *testing.T, test func(t *testing.T, postgres bool)) {
	t.Helper()
	if Full() {
		EachEngine(t, test)
		return
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, false)
	})
}

// callerWait is how long calls wait for a database connection. It is long, so that tests do
// not fail on a busy machine.
const callerWait = 30 * time.Second

// SQLite returns an SQLite database with the complete schema and no rows. It is closed when
// the test ends.
func SQLite(tb testing.TB) *engine.DB {
	tb.Helper()
	dir := Folder(tb)
	CopySQLite(tb, dir)
	return Open(tb, engine.Config{Dir: dir, CallerWait: callerWait})
}

// CopySQLite creates a file mailhelm.db with the complete schema in dir.
func CopySQLite(tb testing.TB, dir string) {
	tb.Helper()
	migrated.CopyTo(tb, dir)
}

// Open opens a database and closes it when the test ends. Log messages of the database are
// discarded.
func Open(tb testing.TB, c engine.Config) *engine.DB {
	tb.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := engine.Open(tb.Context(), c)
	if err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("enginetest: close: %v", err)
		}
	})
	return db
}
