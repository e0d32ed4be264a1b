package storage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
)

// rowsOf returns the first two columns of the result on a PostgreSQL database.
func rowsOf(t *testing.T, db *storage.DB, text string) [][2]string {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the errors
	var all [][2]string
	for rows.Next() {
		var row [2]string
		if err := rows.Scan(&row[0], &row[1]); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTablesCanBePlaced checks that each table has org_id, or is listed with the kind that it
// would be on a distributed PostgreSQL.
func TestTablesCanBePlaced(t *testing.T) {
	t.Parallel()
	db := storagetest.Open(t, storage.Config{URL: enginetest.PostgresURL(t)})
	exists := map[string]bool{}
	for _, row := range rowsOf(t, db, `
		SELECT t.relname, CASE WHEN a.attnotnull THEN 'org_id' ELSE '' END FROM pg_class AS t
		LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = 'org_id'
		WHERE t.relkind IN ('r', 'p') AND t.relnamespace = CAST(current_schema() AS regnamespace)`) {
		exists[row[0]] = true
		if placement.KindOf(row[0]) == placement.Distributed && row[1] == "" {
			t.Errorf("%s has no column org_id that is NOT NULL: add it, or list the table in placement.Exceptions", row[0])
		}
	}
	var names []string
	for _, table := range placement.Exceptions {
		if !exists[table.Name] || slices.Contains(names, table.Name) {
			t.Errorf("%s is listed twice, or does not exist", table.Name)
		}
		names = append(names, table.Name)
	}
	if len(exists)-len(names) < 100 {
		t.Errorf("%d tables, %d of them are not distributed", len(exists), len(names))
	}
}

// placementFaults are queries for what prevents a distributed PostgreSQL from sharding a table.
// Each row has the name of a table and the object.
var placementFaults = []struct {
	fault, query string
	kinds        []placement.Kind // that may have it
}{
	{
		"has a unique index without org_id", `SELECT t.relname, i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid
			WHERE i.indisunique AND t.relnamespace = CAST(current_schema() AS regnamespace)
			AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = t.oid AND a.attname = 'org_id' AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]))`,
		[]placement.Kind{placement.Local, placement.Reference},
	},
	{
		"has no primary key", `SELECT t.relname, '' FROM pg_class AS t WHERE t.relkind IN ('r', 'p') AND t.relnamespace = CAST(current_schema() AS regnamespace)
			AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = t.oid AND i.indisprimary)`,
		nil,
	},
	{
		"takes values from a sequence or from a function", `SELECT t.relname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d JOIN pg_class AS t ON t.oid = d.adrelid
			WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND pg_get_expr(d.adbin, d.adrelid) LIKE '%(%'`,
		[]placement.Kind{placement.Local},
	},
	{
		"has an identity column", `SELECT t.relname, a.attname FROM pg_attribute AS a JOIN pg_class AS t ON t.oid = a.attrelid
			WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND a.attidentity <> ''`,
		[]placement.Kind{placement.Local},
	},
	{
		"has a trigger", `SELECT t.relname, g.tgname FROM pg_trigger AS g JOIN pg_class AS t ON t.oid = g.tgrelid
			WHERE t.relnamespace = CAST(current_schema() AS regnamespace) AND NOT g.tgisinternal`,
		[]placement.Kind{placement.Local},
	},
}

// schemaFaults returns what spans organizations in the schema of distributed tables.
func schemaFaults(t *testing.T, db *storage.DB) []string {
	t.Helper()
	var faults []string
	for _, f := range placementFaults {
		for _, row := range rowsOf(t, db, f.query) {
			if kind := placement.KindOf(row[0]); !slices.Contains(f.kinds, kind) {
				faults = append(faults, strings.TrimSpace(string(kind)+" table "+row[0]+" "+f.fault+" "+row[1]))
			}
		}
	}
	return append(faults, foreignKeyFaults(t, db)...)
}

// foreignKeyFaults returns the foreign keys that do not compare org_id, or that lead from a
// distributed table to one of another kind.
func foreignKeyFaults(t *testing.T, db *storage.DB) []string {
	t.Helper()
	var faults []string
	for _, key := range rowsOf(t, db, `
		SELECT c.conrelid::regclass::text || ' ' || c.confrelid::regclass::text, coalesce((
			SELECT min(CAST(k.at AS text)) FROM unnest(c.conkey, c.confkey) WITH ORDINALITY AS k (mine, theirs, at)
			JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.mine AND a.attname = 'org_id'
			JOIN pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = k.theirs AND b.attname = 'org_id'), '')
		FROM pg_constraint AS c WHERE c.contype = 'f' AND c.connamespace = CAST(current_schema() AS regnamespace)`) {
		from, to, _ := strings.Cut(key[0], " ")
		switch fromKind, toKind := placement.KindOf(from), placement.KindOf(to); {
		case fromKind != toKind:
			faults = append(faults, "a foreign key leads from the "+string(fromKind)+" table "+from+" to the "+string(toKind)+" table "+to)
		case fromKind == placement.Distributed && key[1] == "":
			faults = append(faults, "a foreign key from "+from+" to "+to+" does not compare org_id")
		}
	}
	return faults
}

// TestTablesOfOrganizationsCanBeSharded checks that nothing in the schema of a distributed table
// spans organizations. Wrong tables show that each fault is found.
func TestTablesOfOrganizationsCanBeSharded(t *testing.T) {
	t.Parallel()
	db := storagetest.Open(t, storage.Config{URL: enginetest.PostgresURL(t)})
	if faults := schemaFaults(t, db); len(faults) > 0 {
		t.Error(strings.Join(faults, "\n"))
	}
	if _, err := db.Writer().ExecContext(t.Context(), `
		CREATE TABLE wrong (org_id text NOT NULL, id text, n serial, i integer GENERATED ALWAYS AS IDENTITY, user_id bytetext REFERENCES users (id));
		CREATE UNIQUE INDEX wrong_index ON wrong (id) INCLUDE (org_id);
		CREATE TABLE right_side (org_id text NOT NULL, id text, other text, PRIMARY KEY (org_id, id), UNIQUE (org_id, other));
		ALTER TABLE wrong ADD FOREIGN KEY (id, org_id) REFERENCES right_side (org_id, other);
		CREATE FUNCTION wrong_function() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
		CREATE TRIGGER wrong_trigger AFTER INSERT ON wrong EXECUTE FUNCTION wrong_function()`); err != nil {
		t.Fatal(err)
	}
	const want = `distributed table wrong has a unique index without org_id wrong_index
distributed table wrong has no primary key
distributed table wrong takes values from a sequence or from a function nextval('wrong_n_seq'::regclass)
distributed table wrong has an identity column i
distributed table wrong has a trigger wrong_trigger
a foreign key from wrong to right_side does not compare org_id
a foreign key leads from the distributed table wrong to the local table users`
	faults := schemaFaults(t, db)
	slices.Sort(faults)
	wanted := strings.Split(want, "\n")
	slices.Sort(wanted)
	if !slices.Equal(faults, wanted) {
		t.Errorf("faults of wrong tables:\n%s", strings.Join(faults, "\n"))
	}
}
