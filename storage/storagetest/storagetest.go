package storagetest

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
)

// Each runs a test on every engine, as subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, db *storage.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Postgres(t))
	})
}

// Once runs a test on SQLite, as subtest "sqlite", and on every engine in a full run. It is
// for what the engines cannot answer differently (core/doc/decisions/0072).
func Once(t *testing.T, test func(t *testing.T, db *storage.DB)) {
	t.Helper()
	if Full() {
		Each(t, test)
		return
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
}

// callerWait is how long calls wait for a connection: long, because few tests are about a
// machine that is busy.
const callerWait = 30 * time.Second

// SQLite is an empty database with the whole schema. It is closed with the test.
func SQLite(tb testing.TB) *storage.DB {
	tb.Helper()
	dir := tb.TempDir()
	CopySQLite(tb, dir)
	return Open(tb, storage.Config{Dir: dir, CallerWait: callerWait})
}

// CopySQLite puts a database file with the whole schema into dir.
func CopySQLite(tb testing.TB, dir string) {
	tb.Helper()
	migrated, err := migratedFile()
	if err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, sqliteFile), migrated, 0o600); err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
}

// Open opens a database that the caller has made, and closes it with the test.
// Its log is discarded.
func Open(tb testing.TB, c storage.Config) *storage.DB {
	tb.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	db, err := storage.Open(tb.Context(), c)
	if err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("storagetest: close: %v", err)
		}
	})
	return db
}

const sqliteFile = "mailhelm.db"

// migratedFile is the content of a database with the whole schema. Migrating is
// slow beside most tests, so it is done once in a process.
var migratedFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "mailhelm-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := migrate(storage.Config{Dir: dir}); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqliteFile))
})
