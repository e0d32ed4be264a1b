package insight

import (
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// tableOf returns a report as a table, the newest period first. Numbers have no commas, so
// that the file with the table has the same texts as the page.
func tableOf(a reportRequest, rows []reportRow) reportTable {
	t := reportTable{Names: a.Report == "templates"}
	switch a.Report {
	case "engagement":
		t.Columns = []string{"Period", "Sent", "Delivered", "Opened", "Clicked", "Open rate", "Click rate"}
	case "templates":
		t.Columns = []string{"Template", "Sent", "Delivered", "Bounced", "Complained", "Opened", "Clicked", "Bounce rate", "Complaint rate", "Open rate", "Click rate"}
	default:
		t.Columns = []string{"Period", "Sent", "Delivered", "Bounced", "Complained", "Rejected", "Delivery rate", "Bounce rate", "Complaint rate"}
	}
	for i := range rows {
		row := rows[len(rows)-1-i]
		if t.Names {
			row = rows[i] // the template with the most messages first
		}
		t.Rows = append(t.Rows, cellsOf(a.Report, row))
	}
	return t
}

// cellsOf returns the texts of a row.
func cellsOf(report string, r reportRow) []string {
	day, n := r.Period.UTC().Format(time.DateOnly), func(v int64) string { return strconv.FormatInt(v, 10) }
	switch report {
	case "engagement":
		return []string{day, n(r.Sent), n(r.Delivered), n(r.UniqueOpens), n(r.UniqueClicks), frame.Percentage(r.OpenRate), frame.Percentage(r.ClickRate)}
	case "templates":
		return []string{
			frame.PlainName(r.Template), n(r.Sent), n(r.Delivered), n(r.Bounced), n(r.Complained), n(r.UniqueOpens), n(r.UniqueClicks),
			frame.Percentage(r.BounceRate), frame.Percentage(r.ComplaintRate), frame.Percentage(r.OpenRate), frame.Percentage(r.ClickRate),
		}
	}
	return []string{
		day, n(r.Sent), n(r.Delivered), n(r.Bounced), n(r.Complained), n(r.Suppressed),
		frame.Percentage(r.DeliveryRate), frame.Percentage(reports.Share(r.Bounced, r.Sent)), frame.Percentage(reports.Share(r.Complained, r.Sent)),
	}
}

// chartOfReport returns the chart of a report by periods. Periods without mail are not in
// the report, and not in the chart.
func chartOfReport(a reportRequest, rows []reportRow) chart.Panel {
	plan := chart.Plan{ID: "report", Title: "Messages by " + a.Group, Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count, Summary: "Periods without mail are left out."}
	add := func(name string, color chart.Color, value func(reportRow) float64) {
		s := chart.Series{Name: name, Color: color}
		for _, r := range rows {
			s.Values = append(s.Values, value(r))
		}
		plan.Series = append(plan.Series, s)
	}
	for _, r := range rows {
		plan.Days = append(plan.Days, r.Period)
	}
	if a.Report == "engagement" {
		plan.Title, plan.Draw, plan.Write, plan.Axis = "Open and click rates by "+a.Group, chart.Lines, frame.Percentage, frame.ShortPercentage
		add("Open rate", chart.Opened, func(r reportRow) float64 { return r.OpenRate })
		add("Click rate", chart.Clicked, func(r reportRow) float64 { return r.ClickRate })
		return plan.Panel()
	}
	add("Delivered", chart.Delivered, func(r reportRow) float64 { return float64(r.Delivered) })
	add("Bounced", chart.Bounced, func(r reportRow) float64 { return float64(r.Bounced) })
	add("Rejected", chart.Suppressed, func(r reportRow) float64 { return float64(r.Suppressed) })
	return plan.Panel()
}
