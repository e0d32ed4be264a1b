package activities_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
)

// TestDailyCounts checks the counts by day and name. Activities of earlier days, of another
// organization and past their retention are not counted.
func TestDailyCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *storage.DB) {
		b, other := setup(t, db), setup(t, db)
		other.record(t, `{"name":"purchase","email":"a@example.com"}`)
		today, kept := b.clock(), activities.Activity{Name: "purchase", Source: activities.FromAPI, Properties: []byte(`{}`)}
		b.record(t, `{"name":"purchase","email":"a@example.com"},{"name":"login","email":"a@example.com"},{"name":"purchase","email":"b@example.com"}`)
		people, err := db.Activities().Identify(t.Context(), b.org.ID, []string{"a@example.com", "b@example.com"}, nil)
		if err != nil || len(people) != 2 {
			t.Fatalf("%v %v", people, err)
		}
		for _, at := range []time.Time{today.Add(-13 * time.Hour), today.AddDate(0, 0, -2), today.AddDate(0, 0, -9)} {
			kept.ID, kept.ContactID, kept.OccurredAt, kept.ReceivedAt = core.NewID(), people[0].ID, at, at
			if err := db.Activities().Insert(t.Context(), b.org.ID, []activities.Activity{kept}); err != nil {
				t.Fatal(err)
			}
		}
		for name, tc := range map[string]struct {
			retention, days int
			want            map[string]int
		}{
			"three days": {365, 3, map[string]int{"2026-03-01 purchase": 2, "2026-03-01 login": 1, "2026-02-28 purchase": 1, "2026-02-27 purchase": 1}},
			"retention":  {1, 30, map[string]int{"2026-03-01 purchase": 2, "2026-03-01 login": 1, "2026-02-28 purchase": 1}},
		} {
			counts, ok, err := b.activities.DailyCounts(t.Context(), b.org.ID, tc.retention, tc.days)
			got := map[string]int{}
			for _, c := range counts {
				got[c.Day.Format(time.DateOnly)+" "+c.Name] = c.Count
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok || err != nil {
				t.Errorf("%s: %v %v (-want +got):\n%s", name, ok, err, diff)
			}
		}
		some, err := db.Activities().DailyCounts(t.Context(), b.org.ID, today.AddDate(0, 0, -9), time.Time{}, 2)
		if err != nil || len(some) == 0 || some[0].Count > 2 {
			t.Errorf("bounded: %v %v", some, err)
		}
		addresses, err := b.activities.ContactAddresses(t.Context(), b.org.ID, []string{people[0].ID, core.NewID()})
		if want := map[string]string{people[0].ID: addresses[people[0].ID]}; err != nil || !cmp.Equal(want, addresses) || addresses[people[0].ID] == "" {
			t.Errorf("addresses %v %v", addresses, err)
		}
		if of, err := other.activities.ContactAddresses(t.Context(), other.org.ID, []string{people[0].ID}); err != nil || len(of) != 0 {
			t.Errorf("addresses of another organization: %v %v", of, err)
		}
	})
}
