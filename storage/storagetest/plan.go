package storagetest

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Plan returns SQLite's query plan of a statement, one step after another.
func Plan(t testing.TB, db *storage.DB, s *engine.Statement) string {
	t.Helper()
	args := make([]any, strings.Count(s.Text(), "$")+1)
	rows, err := db.Reader().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+db.Dialect().Text(s.Text()), args...)
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "; ")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
