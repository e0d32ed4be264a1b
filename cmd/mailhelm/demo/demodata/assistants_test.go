package demodata

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestAssistantIsActiveToday checks that the assistant of the demo has calls and changes on
// the current UTC day, none of them in the future, even if the demo starts shortly after
// midnight.
func TestAssistantIsActiveToday(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for _, since := range []time.Duration{5 * time.Minute, 12 * time.Hour} {
		now := midnight.Add(since)
		clock := func() time.Time { return now }
		db, dir := storagetest.SQLite(t), t.TempDir()
		s := seeder(t, db, dir)
		s.Clock = clock
		c, err := s.Ensure(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Past{DB: db, Clock: clock}).assistant(t.Context(), c.OrgID); err != nil {
			t.Fatal(err)
		}

		changes, err := db.Audit().FindAudit(t.Context(), c.OrgID, access.AuditFilter{From: midnight, Action: "contacts_set_list_membership", Limit: 100})
		if err != nil || len(changes) != changesOfToday {
			t.Errorf("%v after midnight: %d changes today, %v", since, len(changes), err)
		}
		for _, e := range changes {
			if e.OccurredAt.After(now) {
				t.Errorf("%v after midnight: a change at %v", since, e.OccurredAt)
			}
		}
		for name, from := range map[string]time.Time{"today": midnight, "the oldest day": midnight.AddDate(0, 0, 1-assistantDays)} {
			calls, err := db.Usage().Usage(t.Context(), c.OrgID, usage.Filter{Since: from, Limit: 100})
			if err != nil || len(calls) != len(calledTools) {
				t.Errorf("%v after midnight: calls of %d tools since %s, %v", since, len(calls), name, err)
			}
			for _, row := range calls {
				if row.LastAt.After(now) || row.LastAt.Before(midnight) {
					t.Errorf("%v after midnight: the last call of %s was at %v", since, row.Operation, row.LastAt)
				}
			}
		}
	}
}
