package reports_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestMessagesSuppressedByTheAccountAreNotBounces checks messages to addresses
// on the account's own suppression list. They count as sent, but their bounces and
// complaints are not counted or shown. The provider computes its rates in the same way.
func TestMessagesSuppressedByTheAccountAreNotBounces(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b, at := setupOn(db), now.Add(-time.Minute)
		all := mail{"m", at, "shop-set", "welcome", map[messages.EventType]int{messages.Send: 4, messages.Bounce: 2, messages.Complaint: 2}}.events()
		for i := range all {
			switch e := &all[i]; e.ID {
			case "m-Bounce-0":
				e.Bounced.SubType = messages.OnAccountList
			case "m-Complaint-0":
				e.ComplaintSubType = messages.OnAccountList
			}
		}
		if err := b.record(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		want := reports.Counts{Sent: 4, Bounced: 1, Complained: 1}
		// a report until now reads the daily counts; the other one also reads events
		for _, to := range []time.Time{now, now.Add(-time.Second)} {
			if h := b.health(t, map[string]any{"to": to.Format(time.RFC3339)}); h.Totals != want {
				t.Errorf("to %v: %+v", to, h.Totals)
			}
		}
		o, err := b.reports.Overview(t.Context(), b.org.ID, 7, true)
		if err != nil || o.Totals != want {
			t.Errorf("the page: %+v, %v", o.Totals, err)
		}
		if len(o.Domains) != 1 || o.Domains[0].Domain != "mail1.example" || len(o.Bounces) != 1 || o.Bounces[0].Recipient != "p1@Mail1.example" {
			t.Errorf("domains %+v, bounces %+v", o.Domains, o.Bounces)
		}
		sent, bounced, complained, err := b.reports.Rates(t.Context(), b.org.ID, core.Window{From: now.AddDate(0, 0, -7), To: now})
		if err != nil || sent != 4 || bounced != 1 || complained != 1 {
			t.Errorf("the rates: %d, %d, %d, %v", sent, bounced, complained, err)
		}
	})
}
