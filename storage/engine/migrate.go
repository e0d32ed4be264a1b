package engine

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/mailhelm/mailhelm/storage/schema"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	versionTable = "schema_versions"
	// lockEvery (seconds) and lockTries limit the wait while another process migrates: one
	// attempt each second for five minutes.
	lockEvery, lockTries = 1, 300
)

// jobSteps maps the version of a migration of Mailhelm's schema to the version of River's
// job tables that this migration installs. When an upgrade of River changes these tables,
// jobSteps needs a new entry.
var jobSteps = map[int64]int{5: 5, 6: 6}

// MigrationState is a migration. Applied is true if this database has it.
type MigrationState struct {
	Version int64
	Name    string
	Applied bool
}

// Migrate applies all migrations that the database lacks. Several processes may call it at
// the same time, and repeated calls are fast. It returns an error if a later version of the
// program has migrated the database.
func (db *DB) Migrate(ctx context.Context) error {
	steps, err := schema.Migrations()
	if err != nil {
		return err
	}
	latest := steps[len(steps)-1].Version
	if err := db.MigrateTo(ctx, latest); err != nil {
		return err
	}
	if have := db.schemaVersion(ctx); have > latest {
		return fmt.Errorf("storage: the database has schema version %d, but this program supports only version %d: use a newer version of the program", have, latest)
	}
	return nil
}

// MigrateTo applies the migrations up to a version that the database lacks. It never removes
// one.
func (db *DB) MigrateTo(ctx context.Context, version int64) error {
	steps, err := schema.Migrations()
	if err != nil {
		return err
	}
	have := db.schemaVersion(ctx)
	for have < version {
		err := db.migrateUp(ctx, steps, version)
		if err == nil {
			return nil
		}
		// On SQLite goose has no lock against other processes. If a migration failed because
		// another process has applied it, continue after it.
		before := have
		if have = db.schemaVersion(ctx); db.dialect != SQLite || have <= before {
			return fmt.Errorf("storage: migrate: %w", db.cause(ctx, err))
		}
	}
	return nil
}

// MigrationStatus returns every migration in order, with whether the database has it.
func (db *DB) MigrationStatus(ctx context.Context) ([]MigrationState, error) {
	steps, err := schema.Migrations()
	if err != nil {
		return nil, err
	}
	if err := db.Ping(ctx); err != nil {
		return nil, fmt.Errorf("storage: migration status: %w", err)
	}
	have := db.schemaVersion(ctx)
	all := make([]MigrationState, len(steps))
	for i, step := range steps {
		all[i] = MigrationState{Version: step.Version, Name: step.Name, Applied: step.Version <= have}
	}
	return all, nil
}

// MissingMigrations returns how many migrations the database does not have yet.
func (db *DB) MissingMigrations(ctx context.Context) (int, error) {
	steps, err := db.MigrationStatus(ctx)
	missing := 0
	for _, step := range steps {
		if !step.Applied {
			missing++
		}
	}
	return missing, err
}

// SchemaVersion returns the number of the last migration that the database has, or -1 if it cannot
// be read.
func (db *DB) SchemaVersion(ctx context.Context) int64 { return db.schemaVersion(ctx) }

// schemaVersion returns the version of the last migration that the database has. It returns
// -1 if the version table does not exist or the query fails. Migrate then tries to migrate,
// which returns an error if the database has failed.
func (db *DB) schemaVersion(ctx context.Context) int64 {
	var version int64
	row := db.Reader().QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable)
	if row.Scan(&version) != nil {
		return -1
	}
	return version
}

func (db *DB) migrateUp(ctx context.Context, steps []schema.Migration, to int64) error {
	dialect, writer := goose.DialectSQLite3, db.Writer()
	options := []goose.ProviderOption{
		goose.WithTableName(versionTable),
		goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(db.gooseSteps(steps)...),
		goose.WithSlog(db.logger),
	}
	if db.dialect == PostgreSQL {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(locker))
		if db.pooled { // goose keeps its lock in a session
			if writer, err = openDirect(db.name); err != nil {
				return err
			}
			defer func() { _ = writer.Close() }() // goose reports the errors
		}
	}
	provider, err := goose.NewProvider(dialect, writer, nil, options...)
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, to)
	return err
}

// gooseSteps returns the migrations as Go functions for the library goose, because SQLite
// and PostgreSQL need different forms of the same SQL file.
func (db *DB) gooseSteps(steps []schema.Migration) []*goose.Migration {
	all := make([]*goose.Migration, len(steps))
	for i, step := range steps {
		run := func(ctx context.Context, tx *sql.Tx) error { return db.runStep(ctx, tx, step) }
		all[i] = goose.NewGoMigration(step.Version, &goose.GoFunc{RunTx: run}, nil)
	}
	return all
}

func (db *DB) runStep(ctx context.Context, tx *sql.Tx, step schema.Migration) error {
	if _, err := tx.ExecContext(ctx, db.dialect.Text(step.SQL)); err != nil {
		return err
	}
	version, isJobStep := jobSteps[step.Version]
	if !isJobStep {
		return nil
	}
	migrator, err := rivermigrate.New(db.jobDriver(), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	//nolint:staticcheck // Migrate takes a connection of its own; what cannot share a transaction is split into steps.
	_, err = migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: version})
	return err
}

func (db *DB) jobDriver() riverdriver.Driver[*sql.Tx] {
	if db.dialect == PostgreSQL {
		return riverdatabasesql.New(db.background.sql)
	}
	return riversqlite.New(db.Writer())
}
