package doctor_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestReplicasAreExamined checks that a replica that is no standby of the database is a warning.
func TestReplicasAreExamined(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.DatabaseURL = enginetest.PostgresURL(t)
	cfg.DatabaseReplicaURL = cfg.DatabaseURL
	r := doctor.Examine(t.Context(), cfg, "")
	if status, text := checkOf(r, "database replica"); status != doctor.Warn || !strings.Contains(text, "no standby of this database") {
		t.Errorf("a primary as replica: %s %s", status, text)
	}
	cfg.DatabaseURL = ""
	r = doctor.Examine(t.Context(), cfg, "")
	if status, text := checkOf(r, "settings"); status != doctor.Fail || !strings.Contains(text, "--database-replica-url needs --database-url") {
		t.Errorf("a replica of SQLite: %s %s", status, text)
	}
}

// TestPoolersAreExamined checks the advice about a pooler in front of PostgreSQL.
func TestPoolersAreExamined(t *testing.T) {
	t.Parallel()
	direct := enginetest.PostgresURL(t)
	pooler := func(mode, direct string) string {
		return enginetest.PgBouncer(t, direct, enginetest.PgBouncerConfig{Mode: mode}).URL(direct)
	}
	examine := func(url, directURL, check string, status doctor.Status, says string) {
		t.Helper()
		cfg := newConfig(t)
		cfg.DatabaseURL, cfg.DatabaseDirectURL = url, directURL
		r := doctor.Examine(t.Context(), cfg, "")
		if got, text := checkOf(r, check); got != status || !strings.Contains(text, says) {
			t.Errorf("%s with %s: %s %q, want %s with %q", url, directURL, got, text, status, says)
		}
	}
	const check = "database pooler"
	sharing := pooler("transaction", direct)
	examine(direct, "", check, "", "")
	examine(sharing, direct, check, doctor.Warn, "SET jit = off")
	examine(sharing, "", check, doctor.Fail, "Set --database-direct-url")
	examine(sharing, sharing, check, doctor.Fail, "--database-direct-url leads to a pooler")
	examine(pooler("statement", direct), direct, check, doctor.Fail, "pool_mode = statement")
	examine(pooler("session", direct), direct, check, doctor.Warn, "SET jit = off")
	examine(sharing, enginetest.PostgresURL(t), "database", doctor.Fail, "--database-direct-url: storage: the direct URL leads to another database")
	examine("", direct, "settings", doctor.Fail, "--database-direct-url needs --database-url")

	db, err := sql.Open("postgres", direct)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only a setting was written
	if _, err := db.ExecContext(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = off', current_database()); END $$"); err != nil {
		t.Fatal(err)
	}
	examine(pooler("transaction", direct), direct, check, doctor.OK, "sessions use the direct one")
	examine(pooler("session", direct), direct, check, doctor.OK, "keep sessions")
}
