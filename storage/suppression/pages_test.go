package suppression_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// seenAt is the time at which the first address was first seen.
var seenAt = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// changedEntries returns n undeliverable addresses. Every fifth has the status Excluded,
// the others have the status Listed. The first and the second entry have the same time of
// change, so have the third and the fourth, and so on.
func changedEntries(n int) []suppression.Entry {
	all := make([]suppression.Entry, n)
	for i := range all {
		at := seenAt.Add(time.Duration(i/2) * time.Minute)
		address := fmt.Sprintf("person%d@mailbox%d.example", i, i%3)
		all[i] = suppression.Entry{
			Key: address, Email: address, Status: suppression.Listed, Reason: suppression.Reason("hard_bounce"),
			FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
		}
		if i%5 == 0 {
			all[i].Status = suppression.Excluded
		}
	}
	return all
}

// entriesThatFit returns the keys of the addresses that match the filter, latest change
// first. It ignores the cursor.
func entriesThatFit(all []suppression.Entry, f suppression.EntryFilter) []string {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b suppression.Entry) int {
		return cmp.Or(a.LastChangedAt.Compare(b.LastChangedAt), cmp.Compare(a.ID(), b.ID()))
	})
	var keys []string
	for _, e := range sorted {
		if (f.Status == "" || f.Status == e.Status) && !e.LastChangedAt.Before(f.ChangedSince) && strings.Contains(e.Key, strings.ToLower(f.Part)) {
			keys = append(keys, e.Key)
		}
	}
	slices.Reverse(keys)
	return keys
}

func everyEntryFilter() []suppression.EntryFilter {
	var all []suppression.EntryFilter
	for _, status := range []suppression.Status{"", suppression.Listed, suppression.Excluded} {
		for _, since := range []time.Time{{}, seenAt.Add(4 * time.Minute)} {
			for _, part := range []string{"", "MAILBOX1", "nobody"} {
				all = append(all, suppression.EntryFilter{Status: status, ChangedSince: since, Part: part, Limit: 3})
			}
		}
	}
	return all
}

func TestUndeliverableIsFilteredAndPaged(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, all := t.Context(), core.NewID(), changedEntries(40)
		if err := db.Suppression().SaveEntries(ctx, org, all); err != nil {
			t.Fatal(err)
		}
		for _, f := range everyEntryFilter() {
			want := entriesThatFit(all, f)
			if n, err := db.Suppression().CountEntries(ctx, org, f); n != len(want) || err != nil {
				t.Errorf("%+v: counted %d, %v, want %d", f, n, err, len(want))
			}
			var got []string
			for {
				page, err := db.Suppression().EntryPage(ctx, org, f)
				if err != nil || len(page) > f.Limit {
					t.Fatalf("%+v: %d entries, %v", f, len(page), err)
				}
				if len(page) == 0 {
					break
				}
				for _, e := range page {
					got = append(got, e.Key)
				}
				last := page[len(page)-1]
				f.After = &core.After{At: last.LastChangedAt, ID: last.ID()}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", f, diff)
			}
		}
	})
}

func TestPagesOfUndeliverableWalkAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	seen := 0
	for _, s := range engine.Statements() {
		name, _, ours := strings.Cut(s.Name(), ", ")
		if !ours || !strings.HasPrefix(name, "undeliverable") {
			continue
		}
		seen++
		index := "undeliverable_by_change (org_id=? AND (last_changed_at,id)>(?,?) AND (last_changed_at,id)<(?,?))"
		if strings.Contains(name, "status") {
			index = "undeliverable_by_status (org_id=? AND (status,last_changed_at,id)>(?,?,?) AND (status,last_changed_at,id)<(?,?,?))"
		}
		if plan := storagetest.Plan(t, db, s); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if seen != 8 {
		t.Errorf("%d statements", seen)
	}
}
