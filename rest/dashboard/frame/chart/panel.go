package chart

import (
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

// Panel is the data of the template "chart": an SVG chart, the labels of its axes, and the
// table of its figures. Upper and Half label the vertical axis; First, Mid and Last label
// the days.
type Panel struct {
	Title, Summary   string
	Legend           []Legend
	Drawing          template.HTML
	Upper, Half      string
	First, Mid, Last string
	// Marks are the days that stand out, with a heading.
	Marked string
	Marks  []Mark
	Table  Table
}

// Legend explains the colour of a series.
type Legend struct{ Name, Class string }

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

// Column is a column of the table that the chart does not draw.
type Column struct {
	Name   string
	Values []string
}

// Plan describes a chart with one figure for each day and series.
type Plan struct {
	// ID is unique on the page and valid as an HTML id.
	ID, Title, Summary string
	// Draw is how the chart is drawn: [StackedBars] or [Lines].
	Draw Kind
	// Write formats a number of the chart's data for the table. Axis formats a label of the
	// vertical axis.
	Write, Axis func(float64) string
	// Days are the days of the chart's numbers, oldest first. There must be at least one.
	Days   []time.Time
	Series []Series
	// Columns are shown in the table before the series. Each has one value for each day.
	Columns    []Column
	Thresholds []Threshold
	// Marks are the days that stand out. Marked is the heading of their list.
	Marks  []Mark
	Marked string
	// Gap is the legend of the days without any value, which are then drawn as grey columns. ""
	// leaves them empty.
	Gap string
}

// noValue stands for a value that is left out.
const noValue = "–"

// Panel returns the chart with its labels, and a table of the same figures with the newest
// day first.
func (p Plan) Panel() Panel {
	panel := Panel{
		Title: p.Title, Summary: p.Summary, Marks: p.Marks, Marked: p.Marked, Table: p.table(),
		First: shortDay(p.Days[0]), Mid: shortDay(p.Days[len(p.Days)/2]), Last: shortDay(p.Days[len(p.Days)-1]),
	}
	texts := make([]string, 0, len(p.Days))
	for _, row := range slices.Backward(panel.Table.Rows) {
		texts = append(texts, row.text(panel.Table.Columns))
	}
	figure := Figure{
		ID: p.ID, Kind: p.Draw, Title: p.Title, Description: p.Summary + " The table below has the figures of each day.",
		Series: p.Series, Thresholds: p.Thresholds, Texts: texts, Marks: p.Marks, ShowGaps: p.Gap != "",
	}
	drawing, upper := Draw(figure)
	panel.Drawing, panel.Upper, panel.Half = drawing, p.Axis(upper), p.Axis(upper/2)
	for i, s := range p.Series {
		panel.Legend = append(panel.Legend, Legend{s.Name, s.Class(i)})
	}
	if p.Gap != "" && len(figure.gaps()) > 0 {
		panel.Legend = append(panel.Legend, Legend{p.Gap, "of-gap"})
	}
	return panel
}

// table returns the figures as a table, the newest day first.
func (p Plan) table() Table {
	t := Table{First: "Day"}
	for _, c := range p.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	for _, s := range p.Series {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, day := range slices.Backward(p.Days) {
		row := Row{Name: day.Format(time.DateOnly)}
		for _, c := range p.Columns {
			row.Values = append(row.Values, c.Values[i])
		}
		for _, s := range p.Series {
			row.Values = append(row.Values, p.write(s.at(i)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// write formats a number of the chart's data. A value that is left out becomes a dash.
func (p Plan) write(v float64) string {
	if math.IsNaN(v) {
		return noValue
	}
	return p.Write(v)
}

// text returns a row as one line of text.
func (r Row) text(columns []string) string {
	parts := make([]string, len(r.Values))
	for i, v := range r.Values {
		parts[i] = columns[i] + " " + v
	}
	return r.Name + ": " + strings.Join(parts, ", ")
}

// shortDay formats a day for an axis: "2 Jan".
func shortDay(t time.Time) string { return t.Format("2 Jan") }
