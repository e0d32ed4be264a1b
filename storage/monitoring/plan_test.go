package monitoring_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestFiguresReadIndexes checks the SQLite query plans: the statements search or scan indexes
// of tables with much data, and read no such table as a whole.
func TestFiguresReadIndexes(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	// contact_pushes has only rows that wait. The tables of p have a row for each workflow,
	// step with mail, endpoint or domain, and sync_results three for each organization. The
	// other names are of subqueries.
	whole := regexp.MustCompile(`^SCAN (contact_pushes|p|sync_results|q|parent|counted|\w+_first|available|scheduled|retryable|running|discarded|failed)$`)
	seen := 0
	for _, s := range engine.Statements() {
		if s.Name() != "backlogs" && s.Name() != "counts of jobs" && s.Name() != "counts of failed jobs" && s.Name() != "counts of syncs" {
			continue
		}
		seen++
		for step := range strings.SplitSeq(storagetest.Plan(t, db, s), "; ") {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && !whole.MatchString(step) {
				t.Errorf("%s: %s", s.Name(), step)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d statements", seen)
	}
}
