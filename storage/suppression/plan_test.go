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
		if db.Dialect() == engine.SQLite {
			const want = "SCAN newest; SEARCH e USING INDEX message_events_of_recipient (org_id=? AND type=? AND recipient_key=? AND occurred_at>?)"
			if plan := storagetest.Plan(t, db, all[at]); !strings.Contains(plan, want) {
				t.Error(plan)
			}
			return
		}
		text := strings.NewReplacer("$1", "'org'", "$2", "1000", "$3", `'["a@example.com"]'`, "$4", "1").
			Replace(db.Dialect().Text(all[at].Text()))
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

// planOf returns the lines of a plan of PostgreSQL.
func planOf(t *testing.T, db *storage.DB, query string) []string {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
