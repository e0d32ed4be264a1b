package insight

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// TestEngagementIsCounted checks that the chart shows opens and clicks as counts, and that
// its summary has the rates.
func TestEngagementIsCounted(t *testing.T) {
	t.Parallel()
	busy := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	days := []reports.DayCounts{
		{Day: busy, Counts: reports.Counts{Sent: 3000, Delivered: 3000, UniqueOpens: 900, UniqueClicks: 90}},
		{Day: busy.AddDate(0, 0, 1), Counts: reports.Counts{Sent: 20, Delivered: 20, UniqueOpens: 1200, UniqueClicks: 60}},
	}
	shown := engagementChart(reports.Overview{Days: days, Rates: reports.Rates{Open: 0.7, Click: 0.05}})
	if !strings.Contains(shown.Summary, "70.00\u00a0% of the delivered messages were opened and 5.00\u00a0% clicked") || !strings.Contains(shown.Summary, "on the day on which the message was sent") {
		t.Errorf("the summary is %s", shown.Summary)
	}
	want := []chart.Row{{Name: "2026-03-04", Values: []string{"1,200", "60"}}, {Name: "2026-03-03", Values: []string{"900", "90"}}}
	if diff := cmp.Diff(want, shown.Table.Rows); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if shown.Upper != "2,000" || shown.Half != "1,000" {
		t.Errorf("the axis ends at %s and %s", shown.Half, shown.Upper)
	}
}
