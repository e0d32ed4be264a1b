package chart

import (
	"html/template"
	"slices"
	"time"
)

// Panel is the data of the template "chart": an SVG chart, the labels of its axes, and the
// table of its figures. Upper and Half label the vertical axis; First, Mid and Last label
// the days.
type Panel struct {
	Title, Summary   string
	Drawing          template.HTML
	Upper, Half      string
	First, Mid, Last string
	Table            Table
}

// Table is the data of the template "table". The first column has the names of the rows.
type Table struct {
	First   string // the heading of the first column
	Columns []string
	Rows    []Row
}

// Row is one row of a table: its name and the values of the other columns.
type Row struct {
	Name   string
	Values []string
}

// Plan describes a chart with one figure for each day and series.
type Plan struct {
	// ID is unique on the page and valid as an HTML id.
	ID, Title, Summary string
	// Draw draws the chart: [StackedBars] or [Lines].
	Draw func(Figure) (template.HTML, float64)
	// Write formats a number of the chart's data for the table. Axis formats a label of the
	// vertical axis.
	Write, Axis func(float64) string
	// Days are the days of the chart's numbers, oldest first. There must be at least one.
	Days   []time.Time
	Series []Series
}

// Panel returns the chart with its labels, and a table of the same figures with the newest
// day first.
func (p Plan) Panel() Panel {
	drawing, upper := p.Draw(Figure{
		ID: p.ID, Title: p.Title, Description: p.Summary + " The table below has the figures of each day.", Series: p.Series,
	})
	panel := Panel{
		Title: p.Title, Summary: p.Summary, Drawing: drawing, Upper: p.Axis(upper), Half: p.Axis(upper / 2),
		First: shortDay(p.Days[0]), Mid: shortDay(p.Days[len(p.Days)/2]), Last: shortDay(p.Days[len(p.Days)-1]),
		Table: Table{First: "Day"},
	}
	for _, s := range p.Series {
		panel.Table.Columns = append(panel.Table.Columns, s.Name)
	}
	for i, day := range slices.Backward(p.Days) {
		row := Row{Name: day.Format(time.DateOnly)}
		for _, s := range p.Series {
			row.Values = append(row.Values, p.Write(s.Values[i]))
		}
		panel.Table.Rows = append(panel.Table.Rows, row)
	}
	return panel
}

// shortDay formats a day for an axis: "2 Jan".
func shortDay(t time.Time) string { return t.Format("2 Jan") }
