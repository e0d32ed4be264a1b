package reports_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestEventsAheadOfTheClockAreNotCountedYet checks messages whose sending time is in the
// future, because the provider's clock is ahead. They must not count before that time.
func TestEventsAheadOfTheClockAreNotCountedYet(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(db)
		var events []messages.Event
		for i, at := range []time.Time{now.Add(-time.Microsecond), now, now.Add(4 * time.Hour), now.Add(23 * time.Hour)} {
			events = append(events, mail{fmt.Sprint("m", i), at, "shop-set", "welcome", map[messages.EventType]int{messages.Send: 1, messages.Bounce: 1}}.events()...)
			open := mail{fmt.Sprint("m", i), at, "shop-set", "welcome", map[messages.EventType]int{messages.Open: 1}}.events()[0]
			open.OccurredAt = at.Add(time.Minute)
			again := open
			again.ID, again.OccurredAt = open.ID+"again", at.Add(48*time.Hour)
			events = append(events, open, again)
		}
		for i := range events {
			if events[i].Type == messages.Bounce && !events[i].Mail.SentAt.Before(now) {
				events[i].Recipient = `"odd@one"@MAIL0.example`
			}
		}
		if err := b.record(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		for to, want := range map[string]int64{
			"": 1, now.Format(time.RFC3339): 1, now.Add(time.Microsecond).Format(time.RFC3339Nano): 2,
			now.Add(4*time.Hour + time.Second).Format(time.RFC3339): 3, now.Add(24 * time.Hour).Format(time.RFC3339): 4,
		} {
			in := map[string]any{}
			if to != "" {
				in["to"] = to
			}
			if h := b.health(t, in); h.Totals != (reports.Counts{Sent: want, Bounced: want, Opens: 2 * want, UniqueOpens: want}) {
				t.Errorf("to %q: %+v, want %d", to, h.Totals, want)
			}
		}
		o, err := b.reports.Overview(t.Context(), b.org.ID, 7, false)
		if err != nil || o.Totals.Sent != 1 || o.Totals.Opens != 2 {
			t.Errorf("the page: %+v, %v", o.Totals, err)
		}
		if len(o.Bounces) != 1 || !o.Bounces[0].At.Before(now) {
			t.Errorf("bounces that did not happen yet: %+v", o.Bounces)
		}
		if len(o.Domains) != 1 || o.Domains[0] != (reports.DomainBounces{Domain: "mail0.example", Bounced: 1}) {
			t.Errorf("domains with bounces that did not happen yet: %+v", o.Domains)
		}
	})
}

// countingStore is a store that counts the calls of FromEvents, with which a report reads
// the events of a part of an hour.
type countingStore struct {
	reports.Store
	parts int
}

func (a *countingStore) FromEvents(ctx context.Context, orgID string, f reports.Filter) ([]reports.GroupCounts, error) {
	a.parts++
	return a.Store.FromEvents(ctx, orgID, f)
}

// TestReportUntilNowReadsTheLastDayWhole checks that a report until now reads the last
// day as a whole, which is faster. It may read a part of the day only if a message of
// that day has a sending time after now.
func TestReportUntilNowReadsTheLastDayWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := &countingStore{Store: b.reports.Store}
	b.reports.Store = store
	in := map[string]any{"from": now.AddDate(0, 0, -3).Truncate(24 * time.Hour).Format(time.RFC3339)}
	for _, c := range []struct {
		at    time.Time
		parts int
	}{{now.Add(-time.Minute), 0}, {now.AddDate(0, 0, 1), 0}, {now.Add(time.Minute), 1}} {
		if err := b.record(t.Context(), mail{c.at.String(), c.at, "", "", map[messages.EventType]int{messages.Open: 1}}.events()); err != nil {
			t.Fatal(err)
		}
		store.parts = 0
		if _, err := call[map[string]any](t.Context(), b, core.REST, "reports_engagement", in); err != nil || store.parts != c.parts {
			t.Errorf("with an event at %v: %d parts, %v", c.at, store.parts, err)
		}
	}
}
