package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is how a chart draws its series.
type Kind int

// The kinds. StackedBars has one bar for each point in time, in which the series are stacked
// in their order. Lines has one line for each series.
const (
	StackedBars Kind = iota
	Lines
)

// Color is the colour of a series. One colour has one meaning on all pages. The zero Color
// is a colour without a meaning, by the position of the series.
type Color string

// The colours.
const (
	Delivered  Color = "delivered"
	Bounced    Color = "bounced"
	Complained Color = "complained"
	Opened     Color = "opened"
	Clicked    Color = "clicked"
	Suppressed Color = "suppressed"
)

// Series is one series of a chart: its name and one value for each point in time. No value
// is negative. A value that is not a number ([math.NaN]) leaves its point out.
type Series struct {
	Name   string
	Values []float64
	Color  Color
}

// Threshold is a value that the chart marks by a line with a name.
type Threshold struct {
	Value float64
	Name  string
}

// Figure is the content of a chart. All series have the same length.
type Figure struct {
	// ID is unique on the page and valid as an HTML id.
	ID   string
	Kind Kind
	// Title and Description are for screen readers.
	Title, Description string
	Series             []Series
	Thresholds         []Threshold
	// Texts has the values of each point in time in words, for the pointer and the keyboard. A
	// point without a text has no values.
	Texts []string
	// Marks are the points in time that stand out.
	Marks []Mark
	// ShowGaps draws the points in time without any value as grey columns, so that they differ
	// from points with the value 0.
	ShowGaps bool
}

// Mark is a point in time that stands out, such as a day with too many bounces. At is its
// position in the series. Text has the reason. Path is the page with its records.
type Mark struct {
	At         int
	Text, Path string
	// IsEvent draws a line instead of a coloured column: something happened at this point, and
	// its values may be usual.
	IsEvent bool
}

// The width and height of the inner image with the lines, in its own units.
const (
	width  = 600
	height = 200
)

// Draw returns a figure as an SVG image, and the value at the top of its vertical axis. The
// axis includes every threshold.
func Draw(f Figure) (template.HTML, float64) {
	d := &drawing{figure: f, upper: roundUp(f.highest()), points: length(f.Series)}
	d.begin()
	if f.ShowGaps {
		d.gaps()
	}
	for _, m := range f.Marks {
		if !m.IsEvent {
			d.printf(`<rect class="breach" x="%s" y="0" width="%s" height="100%%"/>`, d.x(float64(m.At)), d.x(1))
		}
	}
	if f.Kind == StackedBars {
		d.bars()
	} else {
		d.lines()
	}
	d.thresholds()
	d.events()
	d.days()
	d.printf(`</svg>`)
	return template.HTML(d.String()), d.upper //nolint:gosec // all texts in it are escaped
}

// highest returns the greatest value that the vertical axis must include.
func (f Figure) highest() float64 {
	highest := 0.0
	for at := range length(f.Series) {
		sum := 0.0
		for _, s := range f.Series {
			v := s.at(at)
			if math.IsNaN(v) {
				continue
			}
			sum += v
			if f.Kind == Lines {
				highest = math.Max(highest, v)
			}
		}
		if f.Kind == StackedBars {
			highest = math.Max(highest, sum)
		}
	}
	for _, t := range f.Thresholds {
		highest = math.Max(highest, t.Value*1.2)
	}
	return highest
}

// at returns the value at a point in time, not a number if there is none.
func (s Series) at(i int) float64 {
	if i >= len(s.Values) {
		return math.NaN()
	}
	return s.Values[i]
}

// Class returns the class of the i-th series in the stylesheet.
func (s Series) Class(i int) string {
	if s.Color != "" {
		return "of-" + string(s.Color)
	}
	return "of-" + strconv.Itoa(i)
}

// drawing is the text of an SVG image that is being written.
type drawing struct {
	strings.Builder
	figure Figure
	upper  float64
	points int // the number of points in time
}

// printf appends formatted text to the SVG image. The caller must escape text arguments.
func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// begin writes the start of the image with its title, description and grid lines.
func (d *drawing) begin() {
	id := html.EscapeString(d.figure.ID)
	d.printf(`<svg class="drawing" role="group" aria-labelledby="%s-title" aria-describedby="%s-desc">`, id, id)
	d.printf(`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`,
		id, html.EscapeString(d.figure.Title), id, html.EscapeString(d.figure.Description))
	for _, y := range []string{"0", "50%", "100%"} {
		d.printf(`<line class="grid" x1="0" x2="100%%" y1="%s" y2="%s"/>`, y, y)
	}
}

// bars writes a bar for each value.
func (d *drawing) bars() {
	for i, s := range d.figure.Series {
		for at, v := range s.Values {
			if !(v > 0) { // also true if v is not a number
				continue
			}
			below := 0.0
			for _, lower := range d.figure.Series[:i] {
				if l := lower.at(at); l > 0 {
					below += l
				}
			}
			d.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`,
				s.Class(i), d.x(float64(at)+0.1), d.y(below+v), d.x(0.8), percent(100*v/d.upper))
		}
	}
}

// lines writes a line for each series, in an inner image that is stretched, and a dot for
// each value that has no neighbour.
func (d *drawing) lines() {
	d.printf(`<svg viewBox="0 0 %d %d" preserveAspectRatio="none" width="100%%" height="100%%">`, width, height)
	for i, s := range d.figure.Series {
		for _, run := range runsOf(s.Values) {
			points := make([]string, 0, run.end-run.start)
			for at := run.start; at < run.end; at++ {
				x, y := (float64(at)+0.5)*width/float64(d.points), height*(1-s.Values[at]/d.upper)
				points = append(points, number(x)+","+number(y))
			}
			d.printf(`<polyline class="%s" points="%s"/>`, s.Class(i), strings.Join(points, " "))
		}
	}
	d.printf(`</svg>`)
	for i, s := range d.figure.Series {
		for _, run := range runsOf(s.Values) {
			if run.end == run.start+1 {
				d.printf(`<circle class="%s" cx="%s" cy="%s" r="3"/>`, s.Class(i), d.x(float64(run.start)+0.5), d.y(s.Values[run.start]))
			}
		}
	}
}

// run is a part of a series without gaps: from start up to, but not including, end.
type run struct{ start, end int }

// runsOf returns the parts of a series between its gaps.
func runsOf(values []float64) []run {
	var runs []run
	for at, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if last := len(runs) - 1; last >= 0 && runs[last].end == at {
			runs[last].end++
			continue
		}
		runs = append(runs, run{at, at + 1})
	}
	return runs
}

// gaps returns the parts of a figure in which no series has a value.
func (f Figure) gaps() []run {
	points := make([]float64, length(f.Series))
	for at := range points {
		if slices.ContainsFunc(f.Series, func(s Series) bool { return !math.IsNaN(s.at(at)) }) {
			points[at] = math.NaN()
		}
	}
	return runsOf(points)
}

// gaps writes a grey column for each part without any value.
func (d *drawing) gaps() {
	for _, gap := range d.figure.gaps() {
		d.printf(`<rect class="gap" x="%s" y="0" width="%s" height="100%%"/>`, d.x(float64(gap.start)), d.x(float64(gap.end-gap.start)))
	}
}

// events writes a line with a dot at its top for each event.
func (d *drawing) events() {
	for _, m := range d.figure.Marks {
		if m.IsEvent {
			x := d.x(float64(m.At) + 0.5)
			d.printf(`<line class="event" x1="%s" x2="%s" y1="0" y2="100%%"/><circle class="event" cx="%s" cy="0" r="4"/>`, x, x, x)
		}
	}
}

// thresholds writes a line with a name for each threshold.
func (d *drawing) thresholds() {
	for _, t := range d.figure.Thresholds {
		y := d.y(t.Value)
		d.printf(`<line class="threshold" x1="0" x2="100%%" y1="%s" y2="%s"/>`, y, y)
		d.printf(`<text class="threshold" x="100%%" y="%s" dy="-4" text-anchor="end">%s</text>`, y, html.EscapeString(t.Name))
	}
}

// days writes an invisible column for each point in time, which shows its values on hover.
// A marked one is a link.
func (d *drawing) days() {
	marked := map[int]Mark{}
	for _, m := range d.figure.Marks {
		marked[m.At] = m
	}
	for at, text := range d.figure.Texts {
		m, isMarked := marked[at]
		if text == "" && !isMarked {
			continue
		}
		if isMarked {
			text += ". " + m.Text
			d.printf(`<a href="%s" aria-label="%s">`, html.EscapeString(m.Path), html.EscapeString(text))
		}
		d.printf(`<rect class="day" x="%s" y="0" width="%s" height="100%%"><title>%s</title></rect>`, d.x(float64(at)), d.x(1), html.EscapeString(text))
		if isMarked {
			d.printf(`</a>`)
		}
	}
}

// x returns a horizontal position, or a width, of a number of points in time.
func (d *drawing) x(points float64) string { return percent(100 * points / float64(d.points)) }

// y returns the vertical position of a value.
func (d *drawing) y(v float64) string { return percent(100 * (1 - v/d.upper)) }

// length returns the number of points in time of the series. It returns at least 1, because
// callers divide by it.
func length(series []Series) int {
	if len(series) == 0 || len(series[0].Values) == 0 {
		return 1
	}
	return len(series[0].Values)
}

// roundUp returns the smallest number not less than v that is 1, 2, 4 or 5 times a power of
// ten. Half of it, the label at the middle of the axis, is then short too. It returns 1 if
// v is 0 or less.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, times := range []float64{1, 2, 4, 5} {
		if v <= times*power {
			return times * power
		}
	}
	return 10 * power
}

// number formats a coordinate with at most one decimal.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// percent formats a percentage with at most two decimals.
func percent(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) + "%"
}
