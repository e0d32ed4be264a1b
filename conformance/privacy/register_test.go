package privacy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// schemaColumns lists the columns of all tables, except those of the queue of jobs and of the
// migrations, whose programs make their own tables.
var schemaColumns = map[engine.Dialect]string{
	engine.SQLite: `SELECT m.name, c.name FROM sqlite_master AS m CROSS JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'river_%' AND m.name <> 'goose_db_version'`,
	engine.PostgreSQL: `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name NOT LIKE 'river_%' AND table_name <> 'goose_db_version'
		AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)`,
}

// TestRegisterIsTheSchema compares the register with the tables and columns of both databases.
// A new column must be added to it, with a decision whether it holds personal data.
func TestRegisterIsTheSchema(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		schema := map[string][]string{}
		rows, err := db.Writer().QueryContext(t.Context(), schemaColumns[db.Dialect()])
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				t.Fatal(err)
			}
			schema[table] = append(schema[table], column)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		registered := map[string][]string{}
		for _, table := range privacy.Register() {
			if registered[table.Name] != nil {
				t.Errorf("%s is registered twice", table.Name)
			}
			registered[table.Name] = table.Columns()
		}
		for _, name := range slices.Sorted(maps.Keys(schema)) {
			compareColumns(t, name, schema[name], registered[name])
			delete(registered, name)
		}
		for name := range registered {
			t.Errorf("the register has the table %s, which does not exist", name)
		}
	})
}

func compareColumns(t *testing.T, table string, schema, registered []string) {
	t.Helper()
	for _, column := range schema {
		if !slices.Contains(registered, column) {
			t.Errorf("core/privacy does not register the column %s of %s: add it to Data if it holds personal data, and to Other if not", column, table)
		}
	}
	for _, column := range registered {
		if !slices.Contains(schema, column) {
			t.Errorf("core/privacy registers the column %s of %s, which does not exist", column, table)
		}
		if n := len(slices.DeleteFunc(slices.Clone(registered), func(c string) bool { return c != column })); n > 1 {
			t.Errorf("core/privacy registers the column %s of %s %d times", column, table, n)
		}
	}
}

// TestRegisterIsComplete checks that an entry has what its use needs.
func TestRegisterIsComplete(t *testing.T) {
	t.Parallel()
	for _, table := range privacy.Register() {
		if table.Of == privacy.NoPerson {
			if table.Title+table.Kept+table.Key+string(table.Erase) != "" || len(table.Find)+len(table.Data) > 0 {
				t.Errorf("%s has no personal data, but its entry describes some", table.Name)
			}
			continue
		}
		if table.Title == "" || table.Kept == "" || len(table.Data) == 0 {
			t.Errorf("%s lacks a title, its data or for how long it is kept", table.Name)
		}
		if table.Of == privacy.User {
			continue
		}
		if len(table.Find) == 0 || table.Erase == "" {
			t.Errorf("%s does not say how the rows of a person are found and erased", table.Name)
		}
		for _, name := range append(strings.Fields(table.Key), columnsOf(table.Find)...) {
			if !slices.Contains(table.Columns(), name) {
				t.Errorf("%s has no column %s", table.Name, name)
			}
		}
		for _, c := range table.Data {
			if c.Holds == "" {
				t.Errorf("%s does not say what %s holds", table.Name, c.Name)
			}
			if table.Erase == privacy.Rewrite && (c.Change == privacy.Keep) != (c.Of != "") {
				t.Errorf("%s must change %s, which is about the person, and must not change columns about others", table.Name, c.Name)
			}
		}
	}
}

func columnsOf(matches []privacy.Match) []string {
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = m.Column
	}
	return names
}
