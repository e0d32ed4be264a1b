package insight

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// deliveryChart returns the chart of delivered, bounced and suppressed messages by day.
func deliveryChart(o reports.Overview) chart.Panel {
	return chart.Plan{
		ID: "delivery", Title: "Deliveries", Draw: chart.StackedBars, Write: formatCount, Axis: formatCount,
		Summary: fmt.Sprintf("%s of %s messages were delivered.", frame.WithCommas(o.Totals.Delivered), frame.WithCommas(o.Totals.Sent)),
		Days:    daysOf(o),
		Series: []chart.Series{
			seriesOf(o, "Delivered", func(c reports.Counts) float64 { return float64(c.Delivered) }),
			seriesOf(o, "Bounced", func(c reports.Counts) float64 { return float64(c.Bounced) }),
			seriesOf(o, "Suppressed", func(c reports.Counts) float64 { return float64(c.Suppressed) }),
		},
	}.Panel()
}

// bounceChart returns the chart of bounce and complaint rates by day.
func bounceChart(o reports.Overview) chart.Panel {
	return chart.Plan{
		ID: "trouble", Title: "Bounces and complaints", Draw: chart.Lines, Write: percentage, Axis: roundPercentage,
		Summary: fmt.Sprintf("%[1]s of the messages bounced; %[2]s led to a complaint. A review begins at 5%[3]s and 0.1%[3]s.",
			percentage(o.Rates.Bounce), percentage(o.Rates.Complaint), percentSign),
		Days: daysOf(o),
		Series: []chart.Series{
			seriesOf(o, "Bounced", func(c reports.Counts) float64 { return share(c.Bounced, c.Sent) }),
			seriesOf(o, "Complained", func(c reports.Counts) float64 { return share(c.Complained, c.Sent) }),
		},
	}.Panel()
}

// engagementChart returns the chart of opens and clicks by day. It counts each recipient of
// a message once, on the day on which the message was sent. The figures of the last days
// still grow, because recipients open and click later.
func engagementChart(o reports.Overview) chart.Panel {
	return chart.Plan{
		ID: "engagement", Title: "Engagement", Draw: chart.Lines, Write: formatCount, Axis: formatCount,
		Summary: fmt.Sprintf("%s of the delivered messages were opened and %s clicked. Each counts on the day on which the message was sent, so the last days still grow.",
			percentage(o.Rates.Open), percentage(o.Rates.Click)),
		Days: daysOf(o),
		Series: []chart.Series{
			seriesOf(o, "Opened", func(c reports.Counts) float64 { return float64(c.UniqueOpens) }),
			seriesOf(o, "Clicked", func(c reports.Counts) float64 { return float64(c.UniqueClicks) }),
		},
	}.Panel()
}

// daysOf returns the days of an overview, oldest first.
func daysOf(o reports.Overview) []time.Time {
	days := make([]time.Time, len(o.Days))
	for i, d := range o.Days {
		days[i] = d.Day
	}
	return days
}

// seriesOf returns a series of a chart. Its values are the results of the function figure
// for each day of the overview.
func seriesOf(o reports.Overview, name string, figure func(reports.Counts) float64) chart.Series {
	values := make([]float64, len(o.Days))
	for i, d := range o.Days {
		values[i] = figure(d.Counts)
	}
	return chart.Series{Name: name, Values: values}
}

// share returns part/whole, or 0 if whole is 0.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// formatCount formats a count with commas. A number that is not whole gets one decimal: the
// label at the middle of an axis may be 2.5.
func formatCount(v float64) string {
	if v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return frame.WithCommas(int64(v))
}
