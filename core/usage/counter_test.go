package usage_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// flaky is a store that can fail.
type flaky struct {
	usage.Store
	err error
}

func (s *flaky) AddUsage(ctx context.Context, rows []usage.Row) error {
	if s.err != nil {
		return s.err
	}
	return s.Store.AddUsage(ctx, rows)
}

// sums returns the stored sums of an organization by client, person and operation.
func sums(t *testing.T, db *storage.DB, org string, f usage.Filter) map[string]usage.Counts {
	t.Helper()
	f.Limit = 100
	rows, err := db.Usage().Usage(t.Context(), org, f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]usage.Counts{}
	for _, r := range rows {
		if r.OrgID != org {
			t.Errorf("a row of %s", r.OrgID)
		}
		got[r.ClientID+"/"+r.UserID+"/"+r.Operation] = r.Counts
	}
	return got
}

func TestCounter(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		c := usage.NewCounter(db.Usage(), slog.New(slog.DiscardHandler))
		count := func(org, client, user, operation string, o usage.Outcome, at time.Time) {
			c.Count(usage.Call{OrgID: org, ClientID: client, UserID: user, Operation: operation, Outcome: o, At: at})
		}
		yesterday := noon.AddDate(0, 0, -1)
		for range 2 {
			count("mine", "a", "ann", "lists_list", usage.Done, noon)
			count("mine", "a", "ann", "lists_list", usage.Refused, yesterday)
			count("mine", "a", "ann", "send", usage.Asked, noon)
			count("mine", "a", "ann", "send", usage.Confirmed, noon.Add(time.Minute))
			count("mine", "b", "", "", usage.Failed, noon)
			count("other", "a", "ann", "lists_list", usage.Done, noon)
			if err := c.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		lists := usage.Counts{Calls: 4, Refused: 2, LastAt: noon}
		send := usage.Counts{Calls: 4, Asked: 2, Confirmed: 2, LastAt: noon.Add(time.Minute)}
		failed := usage.Counts{Calls: 2, Failed: 2, LastAt: noon}
		for name, tc := range map[string]struct {
			filter usage.Filter
			want   map[string]usage.Counts
		}{
			"all":    {usage.Filter{}, map[string]usage.Counts{"a/ann/lists_list": lists, "a/ann/send": send, "b//": failed}},
			"person": {usage.Filter{UserID: "ann"}, map[string]usage.Counts{"a/ann/lists_list": lists, "a/ann/send": send}},
			"client": {usage.Filter{ClientID: "b"}, map[string]usage.Counts{"b//": failed}},
			"totals": {usage.Filter{Totals: true}, map[string]usage.Counts{
				"a/ann/": {Calls: 8, Refused: 2, Asked: 2, Confirmed: 2, LastAt: noon.Add(time.Minute)}, "b//": failed,
			}},
			"today": {usage.Filter{Since: noon.Truncate(24 * time.Hour), ClientID: "a"}, map[string]usage.Counts{
				"a/ann/lists_list": {Calls: 2, LastAt: noon}, "a/ann/send": send,
			}},
		} {
			if diff := cmp.Diff(tc.want, sums(t, db, "mine", tc.filter)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		rows, err := db.Usage().Usage(t.Context(), "mine", usage.Filter{Limit: 2})
		if err != nil || len(rows) != 2 || rows[0].ClientID != "a" || rows[1].ClientID != "a" {
			t.Errorf("the first two rows are %v, %v", rows, err)
		}
		if len(sums(t, db, "other", usage.Filter{})) != 1 {
			t.Error("the rows of another organization are lost")
		}
	})
}

// TestCountsSurviveAnOutage checks that counts are stored after an outage of the store, and
// at the end of the process.
func TestCountsSurviveAnOutage(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	store := &flaky{Store: db.Usage(), err: errors.New("unavailable")}
	c := usage.NewCounter(store, slog.New(slog.DiscardHandler))
	call := usage.Call{OrgID: "mine", ClientID: "a", Operation: "lists_list", At: noon}
	c.Count(call)
	if err := c.Flush(t.Context()); !errors.Is(err, store.err) {
		t.Errorf("%v", err)
	}
	c.Count(call)
	store.err = nil
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Follow(ctx, nil) })
	stop()
	running.Wait()
	if diff := cmp.Diff(map[string]usage.Counts{"a//lists_list": {Calls: 2, LastAt: noon}}, sums(t, db, "mine", usage.Filter{})); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkCount measures what counting adds to a call.
func BenchmarkCount(b *testing.B) {
	c := usage.NewCounter(nil, nil)
	call := usage.Call{OrgID: "01a20955-0867-7570-864e-d3597bcbc142", ClientID: "oc_live_XBDRNRQTOIHNZ34O3ZDONYNP6Q", UserID: "01a20955-0867-7570-864e-d3597bcbc143", Operation: "contacts_lookup", At: noon}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Count(call)
		}
	})
}
