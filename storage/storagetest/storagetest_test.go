package storagetest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestDatabasesAreIndependent checks that tests which share a database server do not share
// a database.
func TestDatabasesAreIndependent(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *storage.DB{
		"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := open(t), open(t)
			if one.Engine() != name {
				t.Errorf("the engine is %s", one.Engine())
			}
			if err := one.Orgs().InsertOrg(t.Context(), core.Org{ID: core.NewID(), Slug: "only-here"}); err != nil {
				t.Fatal(err)
			}
			if found, err := other.Orgs().OrgIDs(t.Context()); err != nil || len(found) != 0 {
				t.Errorf("the other database has %d orgs, %v", len(found), err)
			}
			steps, err := one.MigrationStatus(t.Context())
			if err != nil || len(steps) == 0 || !steps[len(steps)-1].Applied {
				t.Errorf("the schema is not whole: %v, %v", steps, err)
			}
		})
	}
}
