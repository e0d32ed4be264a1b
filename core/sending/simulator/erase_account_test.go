package simulator_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestEraseRemovesOneAccount checks that Erase deletes the rows of one organization from every
// table that has rows of organizations, and no row of another one.
func TestEraseRemovesOneAccount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "gone", 2100) // more than one batch
	seed(t, s, "kept", 10)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	before := rowsOf(t, db, "kept")
	if rowsOf(t, db, "gone")["contacts"] != 2100 || before["contacts"] != 10 || before["accounts"] != 1 {
		t.Fatalf("seeded %v", before)
	}
	for range 2 { // it may be repeated
		if err := s.Erase(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
	}
	for table, n := range rowsOf(t, db, "gone") {
		if n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	for table, n := range rowsOf(t, db, "kept") {
		if n != before[table] {
			t.Errorf("%s of the other account has %d rows, before %d", table, n, before[table])
		}
	}
}

// TestEraseCoversEveryTable fails for a table with the column org_id from which Erase deletes
// nothing.
func TestEraseCoversEveryTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	s := open(t, path, simulator.Options{})
	seed(t, s, "gone", 1)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the test ends
	for table, n := range rowsOf(t, db, "gone") {
		if n == 0 {
			plant(t, db, table)
		}
	}
	if err := s.Erase(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for table, n := range rowsOf(t, db, "gone") {
		if n != 0 {
			t.Errorf("%d rows of %s are left: add the table to erasedTables", n, table)
		}
	}
}

// rowsOf returns the number of an organization's rows by table.
func rowsOf(t *testing.T, db *sql.DB, orgID string) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `
		SELECT t.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'org_id'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		counts[table] = 0
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table := range counts {
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table+` WHERE org_id = ?`, orgID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}

// plant stores a row of the organization "gone" in a table. Every column has the value "gone".
func plant(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	var columns, values string
	err := db.QueryRowContext(t.Context(), `SELECT group_concat(name), group_concat('''gone''') FROM pragma_table_info(?) WHERE type <> 'INTEGER'`, table).Scan(&columns, &values)
	if err != nil {
		t.Fatal(err)
	}
	var numbers, ones sql.NullString
	err = db.QueryRowContext(t.Context(), `SELECT group_concat(name), group_concat('1') FROM pragma_table_info(?) WHERE type = 'INTEGER'`, table).Scan(&numbers, &ones)
	if err != nil {
		t.Fatal(err)
	}
	if numbers.Valid {
		columns, values = columns+","+numbers.String, values+","+ones.String
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO `+table+` (`+columns+`) VALUES (`+values+`)`); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
}
