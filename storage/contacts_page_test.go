package storage_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestPagesOfAnAudienceStartInAnIndex checks that SQLite reads each page of contacts, list
// members and membership log entries from an index without a sort. The last page then costs
// as much as the first.
func TestPagesOfAnAudienceStartInAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	starts := map[string]string{
		"contacts page":           "contacts_newest (org_id=? AND status=? AND (created_at,id)<(?,?))",
		"list members page":       "list_members_newest (org_id=? AND list_id=? AND (added_at,contact_id)<(?,?))",
		"transitions page":        "sqlite_autoindex_membership_log_1 (org_id=? AND (occurred_at,id)>(?,?))",
		"mirrored addresses":      "(org_id=? AND id>?)",
		"visitor id of a contact": "(org_id=? AND contact_id=?)",
	}
	for _, s := range engine.Statements() {
		start, looked := starts[s.Name()]
		if !looked {
			continue
		}
		delete(starts, s.Name())
		if plan := storagetest.Plan(t, db, s); !strings.Contains(plan, start) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if len(starts) > 0 {
		t.Errorf("statements are missing: %v", starts)
	}
}
