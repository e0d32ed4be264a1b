package suppression_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestHistoriesAreReadByAddress holds the plans of the adverse events in a database without
// statistics: the addresses are the outer side of the join, and the events of each are found
// by an index on them.
func TestHistoriesAreReadByAddress(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		all := engine.Statements()
		at := slices.IndexFunc(all, func(s *engine.Statement) bool { return s.Name() == "adverse events" })
		text := strings.NewReplacer("$1", "'org'", "$2", "1000", "$3", `'["a@example.com"]'`, "$4", "1").
			Replace(db.Dialect().Text(all[at].Text()))
		if db.Dialect() == engine.SQLite {
			lines := planOf(t, db, `EXPLAIN QUERY PLAN `+text)
			outer, inner := lineWith(lines, "SCAN newest"), lineWith(lines, "SEARCH e USING INDEX message_events_of_recipient")
			if outer < 0 || inner < outer {
				t.Errorf("%s", strings.Join(lines, "\n"))
			}
			return
		}
		lines := planOf(t, db, `EXPLAIN (COSTS OFF) `+text)
		outer, inner := lineWith(lines, "Function Scan on json_array_elements"), lineWith(lines, "using message_events_against on message_events m")
		if outer < 0 || inner < outer || lineWith(lines, "Seq Scan") >= 0 {
			t.Errorf("%s", strings.Join(lines, "\n"))
		}
	})
}

// lineWith returns the index of the first line that contains the text, or -1.
func lineWith(lines []string, text string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) })
}

// planOf returns the lines of a plan: the last column of each row.
func planOf(t *testing.T, db *storage.DB, query string) []string {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		var line string
		into := make([]any, len(columns))
		for i := range into {
			into[i] = new(any)
		}
		into[len(into)-1] = &line
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
