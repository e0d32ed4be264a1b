package engine_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

func TestMigrateTwiceAndStatus(t *testing.T) {
	t.Parallel()
	db := openDatabase(t, engine.Config{Dir: filepath.Join(t.TempDir(), "new", "data")})
	if pending := pendingSteps(t, db); pending == 0 {
		t.Error("a new database has nothing pending")
	}
	for range 2 {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if pending := pendingSteps(t, db); pending != 0 {
		t.Errorf("%d steps pending after Migrate", pending)
	}
}

func pendingSteps(t *testing.T, db *database) int {
	t.Helper()
	steps, err := db.MigrationStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pending := 0
	for _, step := range steps {
		if !step.Applied {
			pending++
		}
	}
	return pending
}

// TestMigrateConcurrently checks that several processes can migrate a new database at the
// same time.
func TestMigrateConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		migrateAtOnce(t, engine.Config{Dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		c := engine.Config{URL: enginetest.PostgresURL(t), MaxConns: 3}
		emptied := openDatabase(t, c)
		if _, err := emptied.Writer().ExecContext(t.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public"); err != nil {
			t.Fatal(err)
		}
		migrateAtOnce(t, c)
	})
}

func migrateAtOnce(t *testing.T, c engine.Config) {
	t.Helper()
	const processes = 4
	outcome := make(chan error, processes)
	for range processes {
		db := openDatabase(t, c)
		go func() { outcome <- db.Migrate(t.Context()) }()
	}
	for range processes {
		if err := <-outcome; err != nil {
			t.Error(err)
		}
	}
	if pending := pendingSteps(t, openDatabase(t, c)); pending != 0 {
		t.Errorf("%d steps pending", pending)
	}
}

func TestMigrateRefusesALaterSchema(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, db *database) {
		insert := "INSERT INTO schema_versions (version_id, is_applied) VALUES (9999, true)"
		if _, err := db.Writer().ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "9999") {
			t.Errorf("Migrate on a later schema: %v", err)
		}
	})
}

// TestJobStepsReachRiversLatest checks that jobSteps installs the latest version of River's
// job tables. It fails after an upgrade of River with new migrations.
func TestJobStepsReachRiversLatest(t *testing.T) {
	t.Parallel()
	migrator, err := rivermigrate.New(riversqlite.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	latest := migrator.AllVersions()[len(migrator.AllVersions())-1].Version
	if got := slices.Max(slices.Collect(maps.Values(engine.JobSteps()))); got != latest {
		t.Errorf("steps reach River's version %d, the latest is %d", got, latest)
	}
}

func TestCallsBeforeMigrateFailAndRecover(t *testing.T) {
	t.Parallel()
	db := openDatabase(t, engine.Config{Dir: t.TempDir()})
	if _, err := db.Orgs().OrgIDs(t.Context()); err == nil {
		t.Error("a call without a schema succeeded")
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Orgs().OrgIDs(t.Context()); err != nil {
		t.Errorf("after Migrate: %v", err)
	}
}

func TestSQLiteIsPrivateAndDurable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	db := openDatabase(t, engine.Config{Dir: dir})
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "mailhelm.db"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
	const full = 2
	var synchronous int
	if err := db.Writer().QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != full {
		t.Errorf("synchronous is %d (%v), want FULL", synchronous, err)
	}
	if _, err := db.Reader().ExecContext(t.Context(), "CREATE TABLE x (y)"); err == nil {
		t.Error("a read connection wrote")
	}
}

func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, c := range []engine.Config{
		{},
		{URL: "mysql://user:" + secret + "@127.0.0.1/x"},
		{URL: "postgres://user:" + secret + "@127.0.0.1:1/x\x7f"},
		{URL: "postgres://user:" + secret + "@127.0.0.1:1/x?sslmode=disable"},
		{URL: "postgres://user:" + secret + "@127.0.0.1:1/x?sslmode=nonsense"},
	} {
		db, err := engine.Open(t.Context(), c)
		if err == nil {
			t.Errorf("opened %v", errors.Join(db.Close()))
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	db := sqliteDatabase(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: core.NewID()}); err == nil {
		t.Error("a write after Close succeeded")
	}
}
