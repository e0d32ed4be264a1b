package insight

import (
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// deliveryChart returns the chart of delivered, bounced and suppressed messages by day.
func deliveryChart(o reports.Overview) chart.Panel {
	return chart.Plan{
		ID: "delivery", Title: "Deliveries", Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count,
		Summary: fmt.Sprintf("%s of %s messages were delivered.", core.WithCommas(o.Totals.Delivered), core.WithCommas(o.Totals.Sent)),
		Days:    daysOf(o),
		Series: []chart.Series{
			seriesOf(o, "Delivered", chart.Delivered, func(c reports.Counts) int64 { return c.Delivered }),
			seriesOf(o, "Bounced", chart.Bounced, func(c reports.Counts) int64 { return c.Bounced }),
			seriesOf(o, "Rejected", chart.Suppressed, func(c reports.Counts) int64 { return c.Suppressed }),
		},
	}.Panel()
}

// bounceChart returns the chart of the bounce rate, with the threshold at which the
// provider reviews an account.
func bounceChart(o reports.Overview) chart.Panel {
	return troubleRate{
		id: "bounces", title: "Bounce rate", name: "Bounced", verb: "bounced", status: "bounce", color: chart.Bounced,
		part: func(c reports.Counts) int64 { return c.Bounced }, level: reports.Counts.BounceLevel, rate: o.Rates.Bounce, review: reports.BounceReviewRate,
	}.panel(o)
}

// complaintChart returns the chart of the complaint rate. It has an axis of its own,
// because complaints are a hundred times rarer than bounces.
func complaintChart(o reports.Overview) chart.Panel {
	return troubleRate{
		id: "complaints", title: "Complaint rate", name: "Complained", verb: "led to a complaint", status: "complaint", color: chart.Complained,
		part: func(c reports.Counts) int64 { return c.Complained }, level: reports.Counts.ComplaintLevel, rate: o.Rates.Complaint, review: reports.ComplaintReviewRate,
	}.panel(o)
}

// engagementChart returns the chart of open and click rates. They count on the day on which
// the message was sent. The rates of the last days still grow, because recipients open and
// click later.
func engagementChart(o reports.Overview) chart.Panel {
	delivered := func(c reports.Counts) int64 { return c.Delivered }
	opened, clicked := func(c reports.Counts) int64 { return c.UniqueOpens }, func(c reports.Counts) int64 { return c.UniqueClicks }
	return chart.Plan{
		ID: "engagement", Title: "Engagement", Draw: chart.Lines, Write: frame.Percentage, Axis: frame.ShortPercentage,
		Summary: fmt.Sprintf("%s of the delivered messages were opened and %s clicked. Each counts on the day on which the message was sent, so the last days still grow. %s",
			frame.Percentage(o.Rates.Open), frame.Percentage(o.Rates.Click), sevenDays),
		Days:    daysOf(o),
		Columns: []chart.Column{countColumn(o, "Delivered", delivered), countColumn(o, "Opens", opened), countColumn(o, "Clicks", clicked)},
		Series: []chart.Series{
			{Name: "Open rate", Values: weekRates(o, opened, delivered), Color: chart.Opened},
			{Name: "Click rate", Values: weekRates(o, clicked, delivered), Color: chart.Clicked},
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
func seriesOf(o reports.Overview, name string, color chart.Color, figure func(reports.Counts) int64) chart.Series {
	values := make([]float64, len(o.Days))
	for i, d := range o.Days {
		values[i] = float64(figure(d.Counts))
	}
	return chart.Series{Name: name, Values: values, Color: color}
}

// countColumn returns a column of a chart's table. Its values are the results of the
// function figure for each day of the overview.
func countColumn(o reports.Overview, name string, figure func(reports.Counts) int64) chart.Column {
	values := make([]string, len(o.Days))
	for i, d := range o.Days {
		values[i] = core.WithCommas(figure(d.Counts))
	}
	return chart.Column{Name: name, Values: values}
}
