package engine_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	memberstore "github.com/mailhelm/mailhelm/storage/members"
	"github.com/mailhelm/mailhelm/storage/partitions"
)

// database is a database with the store of organizations, the one whose rows the tests write.
// It stands for storage.DB, which imports every package of storage: for these tests, Go
// compiles every imported package that imports the engine a second time.
type database struct{ *engine.DB }

// Orgs returns the store of organizations.
func (db *database) Orgs() members.OrgStore { return memberstore.NewOrgStore(db.DB) }

// Migrate applies all migrations that the database lacks, and divides its large tables.
func (db *database) Migrate(ctx context.Context) error {
	if err := db.DB.Migrate(ctx); err != nil {
		return err
	}
	return partitions.New(db.DB).Setup(ctx, db.Now())
}

// eachDatabase runs a test like [enginetest.Each].
func eachDatabase(t *testing.T, test func(t *testing.T, db *database)) {
	t.Helper()
	enginetest.Each(t, func(t *testing.T, db *engine.DB) { test(t, &database{db}) })
}

// sqliteDatabase opens a database like [enginetest.SQLite].
func sqliteDatabase(t *testing.T) *database {
	t.Helper()
	return &database{enginetest.SQLite(t)}
}

// postgresDatabase opens a database like [enginetest.Postgres].
func postgresDatabase(t *testing.T) *database {
	t.Helper()
	return &database{enginetest.Postgres(t)}
}

// openDatabase opens a database like [enginetest.Open].
func openDatabase(t *testing.T, c engine.Config) *database {
	t.Helper()
	return &database{enginetest.Open(t, c)}
}
