package segments_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/segments"
	segmentsstore "github.com/mailhelm/mailhelm/storage/segments"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestEventsAreAggregatedOnce checks PostgreSQL plans of predicates for tables without
// statistics, for which the planner expects one row everywhere. No plan may repeat an
// aggregation of events for each contact.
func TestEventsAreAggregatedOnce(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	const groups = 3
	for name, source := range map[string]string{
		"required": `count(open) > 2 and count(click) > 2 and count(send) > 2`,
		"any":      `count(open) > 2 or count(click) > 2 or count(send where subject contains "x") > 2`,
	} {
		checked, err := predicate.Compile(source, predicate.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		q := segments.Question{OrgID: core.NewID(), Predicate: checked, Now: predicatetest.Now}
		plan, err := segmentsstore.Plan(t.Context(), db.DB, q)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan, "Nested Loop") || strings.Count(plan, "Group Key") != groups {
			t.Errorf("%s, all contacts:\n%s", name, plan)
		}
		q.Contacts = []string{core.NewID()}
		if plan, err = segmentsstore.Plan(t.Context(), db.DB, q); err != nil {
			t.Fatal(err)
		}
		if kept := strings.Count(plan, "CTE g\n"); kept != groups {
			t.Errorf("%s, given contacts: %d of %d aggregations are kept:\n%s", name, kept, groups, plan)
		}
	}
}

// TestExamplesAreSearchedOnce checks the PostgreSQL plan of the query for example contacts,
// for tables without statistics. It must search matching contacts once, and then look up
// their addresses by id.
func TestExamplesAreSearchedOnce(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	checked, err := predicate.Compile(`attr.email contains "x" and count(open) > 2`, predicate.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := segmentsstore.SamplePlan(t.Context(), db.DB, segments.Question{OrgID: core.NewID(), Predicate: checked, Now: predicatetest.Now})
	if err != nil {
		t.Fatal(err)
	}
	search, lookup := strings.Index(plan, "GroupAggregate"), strings.Index(plan, " on contacts named")
	if search < 0 || lookup < search || !strings.Contains(plan[lookup:], "((id)::text = (s.contact_id)::text)") {
		t.Error(plan)
	}
}
