package insight

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// overviewOf returns an overview with these counts on the days from 1 March 2026 on.
func overviewOf(counts ...reports.Counts) reports.Overview {
	var o reports.Overview
	for i, c := range counts {
		o.Days = append(o.Days, reports.DayCounts{Day: time.Date(2026, 3, 1+i, 0, 0, 0, 0, time.UTC), Counts: c})
	}
	return o
}

// TestEngagement checks that open and click rates are at most 1, also if a day has more
// opens than deliveries, and that the summary has the rates of the whole period.
func TestEngagement(t *testing.T) {
	t.Parallel()
	o := overviewOf(reports.Counts{Delivered: 3000, UniqueOpens: 900, UniqueClicks: 90}, reports.Counts{Delivered: 20, UniqueOpens: 12000})
	o.Rates = reports.Rates{Open: 0.7, Click: 0.05}
	shown := engagementChart(o)
	if !strings.Contains(shown.Summary, "70.00\u00a0% of the delivered messages were opened and 5.00\u00a0% clicked") {
		t.Errorf("the summary is %s", shown.Summary)
	}
	want := []chart.Row{
		{Name: "2026-03-02", Values: []string{"20", "12,000", "0", "100.00\u00a0%", "2.98\u00a0%"}},
		{Name: "2026-03-01", Values: []string{"3,000", "900", "90", "30.00\u00a0%", "3.00\u00a0%"}},
	}
	if diff := cmp.Diff(want, shown.Table.Rows); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// TestFewMessagesHaveNoRate checks that a rate covers seven days, and that days with too
// few messages have none.
func TestFewMessagesHaveNoRate(t *testing.T) {
	t.Parallel()
	o := overviewOf(
		reports.Counts{Sent: 3, Bounced: 3}, reports.Counts{Sent: 97}, reports.Counts{}, reports.Counts{}, reports.Counts{},
		reports.Counts{}, reports.Counts{}, reports.Counts{Sent: 3, Bounced: 1},
	)
	got := weekRates(o, func(c reports.Counts) int64 { return c.Bounced }, func(c reports.Counts) int64 { return c.Sent })
	none := math.NaN()
	want := []float64{none, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.01}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
}

// TestMarkedDays checks which days are marked: those at the threshold or above it, with
// enough messages and more than one complaint.
func TestMarkedDays(t *testing.T) {
	t.Parallel()
	o := overviewOf(
		reports.Counts{Sent: 99, Bounced: 50, Complained: 9}, reports.Counts{Sent: 100, Bounced: 5, Complained: 1},
		reports.Counts{Sent: 1000, Bounced: 49, Complained: 2}, reports.Counts{Sent: 10000, Bounced: 0, Complained: 9},
	)
	for name, c := range map[string]struct {
		panel chart.Panel
		want  []chart.Mark
	}{
		"bounces":    {bounceChart(o), []chart.Mark{{At: 1, Text: "2 March: 5.00\u00a0%, 5 of 100 messages", Path: "/dashboard/messages?date=2026-03-02&status=bounce"}}},
		"complaints": {complaintChart(o), []chart.Mark{{At: 2, Text: "3 March: 0.20\u00a0%, 2 of 1,000 messages", Path: "/dashboard/messages?date=2026-03-03&status=complaint"}}},
	} {
		if diff := cmp.Diff(c.want, c.panel.Marks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
