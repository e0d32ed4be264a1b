package suppression_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestHistoriesAreReadByAddress checks the query plans of the statement for bounces,
// complaints and rejects (adverse events), without statistics. It must search the events of
// each given address through an index, and not read all adverse events of the organization.
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
		plan := storagetest.PostgresPlan(t, db.Reader(), text)
		outer := strings.Index(plan, "Function Scan on json_array_elements")
		inner := strings.Index(plan, "using message_events_against on message_events m")
		if outer < 0 || inner < outer || strings.Contains(plan, "Seq Scan") {
			t.Error(plan)
		}
	})
}
