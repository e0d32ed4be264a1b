package closing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// columnsOfPeople are the names of columns that have the id of a person. A column of another
// name has none, or is the author or the actor of a record, which keeps the id.
var columnsOfPeople = []string{"user_id", "subject", "invited_by"}

// keptIDs lists tables with such a column from which the deletion of a person deletes no row.
var keptIDs = map[string]string{
	"grants":             "revoked; the audit log refers to it",
	"tool_usage":         "counts, by the id of the person",
	"broadcasts":         "the person for whom an application created it",
	"template_versions":  "the person for whom an application saved it",
	"workflow_versions":  "the person for whom an application saved it",
	"test_sends":         "the person for whom an application sent it",
	"templates":          "the subject of a mail",
	"messages":           "the subject of a mail",
	"receiving_messages": "the subject of a mail",
	"domainauth_events":  "the subject is a DNS record",
	"domainauth_records": "the subject is a DNS record",
	"replay_records":     "the subject is a contact",
}

// TestDeletionCoversTablesOfPeople fails for a table with a column of people that the deletion
// of a person neither covers nor leaves out for a reason.
func TestDeletionCoversTablesOfPeople(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	counted, err := closing.NewPersonStore(db.DB).CountRows(t.Context(), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, table := range counted {
		covered[table.Table] = true
	}
	rows, err := db.Reader().QueryContext(t.Context(), `
		SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'river_%' AND t.name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(columnsOfPeople, column) {
			continue
		}
		seen[table] = true
		if covered[table] == (keptIDs[table] != "") {
			t.Errorf("%s.%s: list the table in personTables, or in keptIDs with a reason", table, column)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table, reason := range keptIDs {
		if !seen[table] || strings.TrimSpace(reason) == "" {
			t.Errorf("%s is listed in keptIDs without a column of people or without a reason", table)
		}
	}
}
