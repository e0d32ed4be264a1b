package reports_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestRatesAreByTheDayOfSending checks that every event counts on the day on which its
// message was sent, in any order and however late it arrives. Several opens by one
// recipient are one unique open. If a Send is missing, a rate is at most 1.
func TestRatesAreByTheDayOfSending(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(db)
		monday := time.Date(2026, 3, 9, 23, 50, 0, 0, time.UTC)
		event := func(kind messages.EventType, message string, sent time.Time, after time.Duration) messages.Event {
			e := mail{message, sent, "shop-set", "welcome", map[messages.EventType]int{kind: 1}}.events()[0]
			e.ID, e.OccurredAt = fmt.Sprint(kind, message, after), sent.Add(after)
			return e
		}
		events := []messages.Event{
			event(messages.Click, "a", monday, 50*time.Hour), event(messages.Open, "a", monday, time.Hour), event(messages.Open, "a", monday, 25*time.Hour),
			event(messages.Open, "a", monday, 49*time.Hour), event(messages.Delivery, "a", monday, 20*time.Minute), event(messages.Send, "a", monday, 0),
			event(messages.Send, "b", monday, 0), event(messages.Bounce, "b", monday, 26*time.Hour), event(messages.Complaint, "a", monday, 60*time.Hour),
			// Two messages were sent on Wednesday; the Send event of one is missing.
			event(messages.Send, "c", monday.AddDate(0, 0, 2), 0), event(messages.Delivery, "c", monday.AddDate(0, 0, 2), time.Hour), event(messages.Delivery, "d", monday.AddDate(0, 0, 2), time.Hour),
		}
		for _, e := range events {
			if err := b.record(t.Context(), []messages.Event{e}); err != nil {
				t.Fatal(err)
			}
		}
		b.pointsAre(t, map[string]any{},
			reports.DeliverabilityPoint{Period: monday.Truncate(24 * time.Hour), Sent: 2, Delivered: 1, Bounced: 1, Complained: 1, DeliveryRate: 0.5},
			reports.DeliverabilityPoint{Period: monday.AddDate(0, 0, 2).Truncate(24 * time.Hour), Sent: 1, Delivered: 2, DeliveryRate: 1})
		// A report covers the messages sent in its time window, whose limits are exact to the
		// microsecond.
		b.pointsAre(t, map[string]any{"from": monday.Add(time.Microsecond).Format(time.RFC3339Nano), "to": monday.Add(24 * time.Hour).Format(time.RFC3339Nano)})
		b.pointsAre(t, map[string]any{"from": monday.Format(time.RFC3339Nano), "to": monday.Add(time.Microsecond).Format(time.RFC3339Nano)},
			reports.DeliverabilityPoint{Period: monday.Truncate(24 * time.Hour), Sent: 2, Delivered: 1, Bounced: 1, Complained: 1, DeliveryRate: 0.5})
		h := b.health(t, nil)
		if h.Totals != (reports.Counts{Sent: 3, Delivered: 3, Bounced: 1, Complained: 1, Opens: 3, UniqueOpens: 1, Clicks: 1, UniqueClicks: 1}) || h.Rates.Delivery != 1 {
			t.Errorf("%+v", h)
		}
		page, err := b.reports.Overview(t.Context(), b.org.ID, 7, true)
		if err != nil || page.Totals != h.Totals || len(page.Domains) != 1 || page.Domains[0].Bounced != 1 || len(page.Bounces) != 1 {
			t.Errorf("%+v, %v", page, err)
		}
		// A report on today has no bounces, because they belong to messages of earlier days.
		if page, err = b.reports.Overview(t.Context(), b.org.ID, 1, true); err != nil || page.Totals != (reports.Counts{}) || len(page.Domains)+len(page.Bounces) > 0 {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

func (b *bundle) pointsAre(t *testing.T, in map[string]any, want ...reports.DeliverabilityPoint) {
	t.Helper()
	got, err := call[core.Collection[reports.DeliverabilityPoint]](t.Context(), b, core.REST, "reports_deliverability", in)
	if diff := cmp.Diff(append([]reports.DeliverabilityPoint{}, want...), got.Data); diff != "" || err != nil {
		t.Errorf("%v: %v (-want +got):\n%s", in, err, diff)
	}
}

// TestRatesOfTheLastDaysAreThoseOfThePage checks that Rates and Overview return the same
// number of sent messages for the same days.
func TestRatesOfTheLastDaysAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, ago := range []time.Duration{time.Minute, 6*24*time.Hour + 15*time.Hour, 6*24*time.Hour + 16*time.Hour, 7*24*time.Hour - time.Minute} {
		m := mail{fmt.Sprint("m", i), now.Add(-ago), "shop-set", "welcome", map[messages.EventType]int{messages.Send: 1}}
		if err := b.record(t.Context(), m.events()); err != nil {
			t.Fatal(err)
		}
	}
	sent, _, _, err := b.reports.Rates(t.Context(), b.org.ID, core.LastDays(now, 7))
	if err != nil {
		t.Fatal(err)
	}
	page, err := b.reports.Overview(t.Context(), b.org.ID, 7, false)
	if err != nil || sent != 2 || page.Totals.Sent != sent {
		t.Errorf("the rates are of %d messages, the page of %d, %v", sent, page.Totals.Sent, err)
	}
}
