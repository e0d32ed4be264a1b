package storagetest

import (
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// Each runs a test on both database engines, as the subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, db *storage.DB)) {
	t.Helper()
	enginetest.EachEngine(t, withDatabase(test))
}

// Once runs a test on SQLite, as the subtest "sqlite". If MAILHELM_TEST_FULL is "1" it runs
// the test on both engines. It is for tests whose result cannot depend on the engine
// (core/doc/decisions/0072).
func Once(t *testing.T, test func(t *testing.T, db *storage.DB)) {
	t.Helper()
	enginetest.OnceEngine(t, withDatabase(test))
}

// withDatabase returns a test that opens the database of test.
func withDatabase(test func(t *testing.T, db *storage.DB)) func(t *testing.T, postgres bool) {
	return func(t *testing.T, postgres bool) {
		if postgres {
			test(t, Postgres(t))
		} else {
			test(t, SQLite(t))
		}
	}
}

// SQLite returns an SQLite database with the complete schema and no rows. It is closed when
// the test ends.
func SQLite(tb testing.TB) *storage.DB {
	tb.Helper()
	return &storage.DB{DB: enginetest.SQLite(tb)}
}

// Postgres returns a PostgreSQL database with the complete schema and no rows. It is
// dropped when the test ends. If PostgreSQL is not available the test is skipped, or fails
// if CI is "true".
func Postgres(tb testing.TB) *storage.DB {
	tb.Helper()
	return &storage.DB{DB: enginetest.Postgres(tb)}
}

// Open opens a database and closes it when the test ends. Log messages of the database are
// discarded.
func Open(tb testing.TB, c storage.Config) *storage.DB {
	tb.Helper()
	return &storage.DB{DB: enginetest.Open(tb, c)}
}
