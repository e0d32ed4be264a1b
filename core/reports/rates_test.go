package reports_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// What the rates of the last days count is what the page of as many days shows.
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
