package closing_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	coreclosing "github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// column is a column of a table without a default value.
type column struct{ table, name, kind string }

// columnsQuery selects the columns of all tables that must have a value, and org_id.
const (
	sqliteColumns = `
		SELECT t.name, c.name, lower(c.type) FROM sqlite_master AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'river%' AND t.name NOT LIKE 'sqlite_%'
			AND (c."notnull" = 1 OR c.pk > 0) AND c.dflt_value IS NULL ORDER BY t.name, c.cid`
	postgresColumns = `
		SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT LIKE 'river%' AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)
			AND is_nullable = 'NO' AND column_default IS NULL
		ORDER BY table_name, ordinal_position`
)

// tablesOfOrgs returns the columns of every table with the column org_id, by table.
func tablesOfOrgs(t *testing.T, db *storage.DB) map[string][]column {
	t.Helper()
	query := sqliteColumns
	if db.Dialect() != engine.SQLite {
		query = postgresColumns
	}
	rows, err := db.Reader().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]column{}
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name, &c.kind); err != nil {
			t.Fatal(err)
		}
		all[c.table] = append(all[c.table], c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table, columns := range all {
		if !slices.ContainsFunc(columns, func(c column) bool { return c.name == "org_id" }) {
			delete(all, table)
		}
	}
	return all
}

// plant stores a row of an organization in a table. Texts have the id of the organization, so
// that they refer to the rows of the same organization in other tables. n tells rows apart in
// tables that are ordered by a time.
func plant(t *testing.T, db *storage.DB, columns []column, orgID string, n int) {
	t.Helper()
	var names, marks []string
	var values []any
	for i, c := range columns {
		var value any
		switch {
		case strings.Contains(c.kind, "text"):
			value = orgID
		case strings.Contains(c.kind, "byte"):
			value = []byte(orgID)
		case strings.Contains(c.kind, "bool"):
			value = false
		default:
			value = n
		}
		names, marks, values = append(names, c.name), append(marks, fmt.Sprintf("$%d", i+1)), append(values, value)
	}
	insert := `INSERT INTO ` + columns[0].table + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
	if _, err := db.Writer().ExecContext(t.Context(), insert, values...); err != nil {
		t.Fatalf("%s: %v", columns[0].table, err)
	}
}

// newOrg stores an organization with a row in every table, and returns its id.
func newOrg(t *testing.T, db *storage.DB, slug string) string {
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: slug, Slug: slug, Tier: "free", RetentionDays: 30}
	if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	tables := tablesOfOrgs(t, db)
	ordered, err := closing.NewOrgStore(db.DB).CountRows(t.Context(), org.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range slices.Backward(ordered) { // a table stands before those that it refers to
		if len(tables[table.Table]) > 0 {
			plant(t, db, tables[table.Table], org.ID, 1)
		}
	}
	for n := range 3 {
		plant(t, db, tables["activities"], org.ID, n+2)
	}
	return org.ID
}

// jobArgs are the arguments of a job of one organization.
type jobArgs struct {
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job.
func (jobArgs) Kind() string { return "test_of_erasing" }

// TestEraseCoversEveryTable fails for a table with the column org_id that the erasing of an
// organization does not cover.
func TestEraseCoversEveryTable(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		counted, err := closing.NewOrgStore(db.DB).CountRows(t.Context(), core.NewID())
		if err != nil {
			t.Fatal(err)
		}
		covered := map[string]bool{}
		for _, table := range counted {
			covered[table.Table] = true
		}
		tables := tablesOfOrgs(t, db)
		for table := range tables {
			if !covered[table] {
				t.Errorf("%s has the column org_id: add it to orgTables of storage/closing", table)
			}
		}
		for table := range covered {
			if len(tables[table]) == 0 {
				t.Errorf("%s is in orgTables and does not exist", table)
			}
		}
	})
}

func TestEraseRemovesEveryRowOfOneOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), closing.NewOrgStore(db.DB)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		gone, kept := newOrg(t, db, "gone"), newOrg(t, db, "kept")
		queue, err := db.NewJobs(engine.JobsConfig{})
		must(err)
		for _, org := range []string{gone, kept, ""} {
			must(queue.Enqueue(ctx, jobArgs{org}))
		}
		before, err := store.CountRows(ctx, kept)
		must(err)
		planted, err := store.CountRows(ctx, gone)
		must(err)
		for _, table := range planted {
			if table.Rows == 0 {
				t.Errorf("the test stores no row in %s", table.Table)
			}
		}
		if n, err := store.EraseRows(ctx, "activities", gone, 2); n != 2 || err != nil {
			t.Errorf("a batch of 2 has %d rows, %v", n, err)
		}
		if diff := cmp.Diff([]coreclosing.TableRows{{Table: "activities", Rows: 2}}, onlyTable(ctx, t, store, gone, "activities")); diff != "" {
			t.Error(diff)
		}

		now := start.Add(core.DeletionWait - time.Microsecond)
		var objects, accounts []string
		eraser := coreclosing.Eraser{
			Store: store, Orgs: db.Orgs(), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
			Objects: func(_ context.Context, orgID string) error { objects = append(objects, orgID); return nil },
			Account: func(_ context.Context, orgID string) error { accounts = append(accounts, orgID); return nil },
		}
		must(eraser.Erase(ctx, gone)) // not deleted
		must(store.SetDeleted(ctx, gone, &start))
		must(eraser.Worker().Work(ctx, coreclosing.EraseArgs{}))
		if still, err := db.Orgs().OrgBySlug(ctx, "gone"); err != nil || !still.IsDeleted() || objects != nil {
			t.Errorf("before the end of the waiting time: %+v, %v, objects of %v erased", still, err, objects)
		}
		now = now.Add(time.Microsecond)
		must(eraser.Worker().Work(ctx, coreclosing.EraseArgs{}))
		must(eraser.Worker().Work(ctx, coreclosing.EraseArgs{}))
		if !slices.Equal(objects, []string{gone}) || !slices.Equal(accounts, []string{gone}) {
			t.Errorf("objects of %v and accounts of %v erased", objects, accounts)
		}

		checkErased(t, store, gone, kept, before)
		var jobs int
		must(db.Reader().QueryRowContext(ctx, `SELECT count(*) FROM river_job`).Scan(&jobs))
		if jobs != 2 {
			t.Errorf("%d jobs are left, want 2", jobs)
		}
		if _, err := db.Orgs().Org(ctx, gone); !core.IsNotFound(err) {
			t.Errorf("the organization: %v", err)
		}
		must(db.Orgs().InsertOrg(ctx, core.Org{ID: core.NewID(), Name: "Again", Slug: "gone", Tier: "free", RetentionDays: 30}))
	})
}

// checkErased checks that an organization has no row left, and another one as many as before.
func checkErased(t *testing.T, store coreclosing.OrgStore, gone, kept string, before []coreclosing.TableRows) {
	t.Helper()
	ctx := t.Context()
	left, err := store.CountRows(ctx, gone)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range left {
		if table.Rows != 0 {
			t.Errorf("%d rows of %s are left", table.Rows, table.Table)
		}
	}
	after, err := store.CountRows(ctx, kept)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the other organization: %s", diff)
	}
}

// onlyTable returns the count of one table.
func onlyTable(ctx context.Context, t *testing.T, store coreclosing.OrgStore, orgID, table string) []coreclosing.TableRows {
	t.Helper()
	all, err := store.CountRows(ctx, orgID)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(r coreclosing.TableRows) bool { return r.Table != table })
}

// TestErasedObjectsMayBeUnavailable checks that an unavailable bucket delays the erasing, and
// that the rows are erased after some days nevertheless.
func TestErasedObjectsMayBeUnavailable(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	ctx, store := t.Context(), closing.NewOrgStore(db.DB)
	org := newOrg(t, db, "gone")
	if err := store.SetDeleted(ctx, org, &start); err != nil {
		t.Fatal(err)
	}
	now := start.Add(core.DeletionWait)
	eraser := coreclosing.Eraser{
		Store: store, Orgs: db.Orgs(), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Objects: func(context.Context, string) error { return fmt.Errorf("the bucket refuses the access key") },
		Account: func(context.Context, string) error { return nil },
	}
	if err := eraser.Erase(ctx, org); err == nil {
		t.Error("erased without its objects")
	}
	if erasing, err := store.IsErasing(ctx, org); err != nil || !erasing {
		t.Errorf("erasing: %v, %v", erasing, err)
	}
	now = now.Add(7 * 24 * time.Hour)
	if err := eraser.Erase(ctx, org); err != nil {
		t.Errorf("days later: %v", err)
	}
}
