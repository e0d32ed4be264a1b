package dashboard

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/chart"
)

// measure is a figure of a day, with its name.
type measure struct {
	name string
	of   func(reports.Counts) float64
}

// plan is a chart before its figures.
type plan struct {
	id, title, summary string
	draw               func(chart.Figure) (template.HTML, float64)
	// write is a figure in the table, axis one at the end of an axis.
	write, axis func(float64) string
	measures    []measure
}

func deliveryChart(o reports.Overview) chartShown {
	return plan{
		id: "delivery", title: "Deliveries", draw: chart.StackedBars, write: howMany, axis: howMany,
		summary: fmt.Sprintf("%s of %s messages were delivered.", grouped(o.Totals.Delivered), grouped(o.Totals.Sent)),
		measures: []measure{
			{"Delivered", func(c reports.Counts) float64 { return float64(c.Delivered) }},
			{"Bounced", func(c reports.Counts) float64 { return float64(c.Bounced) }},
			{"Suppressed", func(c reports.Counts) float64 { return float64(c.Suppressed) }},
		},
	}.chart(o.Days)
}

func troubleChart(o reports.Overview) chartShown {
	return plan{
		id: "trouble", title: "Bounces and complaints", draw: chart.Lines, write: percentage, axis: roundPercentage,
		summary: fmt.Sprintf("%[1]s of the messages bounced; %[2]s led to a complaint. A review begins at 5%[3]s and 0.1%[3]s.",
			percentage(o.Rates.Bounce), percentage(o.Rates.Complaint), percentSign),
		measures: []measure{
			{"Bounced", func(c reports.Counts) float64 { return share(c.Bounced, c.Sent) }},
			{"Complained", func(c reports.Counts) float64 { return share(c.Complained, c.Sent) }},
		},
	}.chart(o.Days)
}

// engagementChart counts messages by the day on which they were sent, so the last days
// still grow.
func engagementChart(o reports.Overview) chartShown {
	return plan{
		id: "engagement", title: "Engagement", draw: chart.Lines, write: howMany, axis: howMany,
		summary: fmt.Sprintf("%s of the delivered messages were opened and %s clicked. Each counts on the day it was sent, so the last days still grow.",
			percentage(o.Rates.Open), percentage(o.Rates.Click)),
		measures: []measure{
			{"Opened", func(c reports.Counts) float64 { return float64(c.UniqueOpens) }},
			{"Clicked", func(c reports.Counts) float64 { return float64(c.UniqueClicks) }},
		},
	}.chart(o.Days)
}

// chart draws the figures of the days and lists them, the newest day first.
func (p plan) chart(days []reports.DayCounts) chartShown {
	shown := chartShown{
		Title: p.title, Summary: p.summary,
		First: shortDay(days[0].Day), Mid: shortDay(days[len(days)/2].Day), Last: shortDay(days[len(days)-1].Day),
	}
	figure := chart.Figure{ID: p.id, Title: p.title, Description: p.summary + " The figures of each day stand in the table below."}
	for _, m := range p.measures {
		series := chart.Series{Name: m.name}
		for _, d := range days {
			series.Values = append(series.Values, m.of(d.Counts))
		}
		figure.Series = append(figure.Series, series)
		shown.Columns = append(shown.Columns, m.name)
	}
	drawing, upper := p.draw(figure)
	shown.Drawing, shown.Upper, shown.Half = drawing, p.axis(upper), p.axis(upper/2)
	for i, d := range slices.Backward(days) {
		row := tableRow{Day: d.Day.Format(time.DateOnly)}
		for _, s := range figure.Series {
			row.Values = append(row.Values, p.write(s.Values[i]))
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// howMany writes how many there are; half of an axis may lie between two numbers.
func howMany(v float64) string {
	if v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(int64(v))
}
