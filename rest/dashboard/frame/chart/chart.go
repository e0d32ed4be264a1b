package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Series is one series of a chart: its name and one value for each point in time. No value
// is negative.
type Series struct {
	Name   string
	Values []float64
}

// Figure is the content of a chart. All series have the same length.
type Figure struct {
	// ID is unique on the page and valid as an HTML id.
	ID string
	// Title and Description are for screen readers.
	Title, Description string
	Series             []Series
}

// The width and height of a chart in units of its SVG image. The page scales the image.
const (
	width  = 600
	height = 200
)

// StackedBars returns an SVG chart with one bar for each point in time, in which the series
// are stacked in their order. It also returns the value at the top of the vertical axis.
func StackedBars(f Figure) (template.HTML, float64) {
	upper := roundUp(greatestSum(f.Series))
	d := begin(f)
	n := length(f.Series)
	for i, s := range f.Series {
		d.printf(`<g class="s%d">`, i+1)
		for at, v := range s.Values {
			if v <= 0 {
				continue
			}
			below := 0.0
			for _, lower := range f.Series[:i] {
				below += lower.Values[at]
			}
			step := float64(width) / float64(n)
			top, foot := level(below+v, upper), level(below, upper)
			d.printf(`<rect x="%s" y="%s" width="%s" height="%s"/>`,
				number(float64(at)*step+step*0.1), number(top), number(step*0.8), number(foot-top))
		}
		d.printf(`</g>`)
	}
	return d.end(), upper
}

// Lines returns an SVG chart with one line for each series, and the value at the top of the
// vertical axis. A series of a single value becomes a short horizontal line.
func Lines(f Figure) (template.HTML, float64) {
	highest := 0.0
	for _, s := range f.Series {
		for _, v := range s.Values {
			highest = math.Max(highest, v)
		}
	}
	upper := roundUp(highest)
	d := begin(f)
	step := float64(width) / float64(length(f.Series))
	for i, s := range f.Series {
		points := make([]string, 0, len(s.Values)+1)
		for at, v := range s.Values {
			points = append(points, number((float64(at)+0.5)*step)+","+number(level(v, upper)))
		}
		if len(s.Values) == 1 {
			points = append(points, number(0.75*step)+","+number(level(s.Values[0], upper)))
		}
		d.printf(`<polyline class="s%d" points="%s"/>`, i+1, strings.Join(points, " "))
	}
	return d.end(), upper
}

// drawing is the text of an SVG image that is being written.
type drawing struct{ strings.Builder }

// printf appends formatted text to the SVG image. The caller must escape text arguments.
func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// begin returns an SVG image with its title, description and grid lines.
func begin(f Figure) *drawing {
	d, id := &drawing{}, html.EscapeString(f.ID)
	d.printf(`<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-labelledby="%s-title %s-desc">`, width, height, id, id)
	d.printf(`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`,
		id, html.EscapeString(f.Title), id, html.EscapeString(f.Description))
	d.printf(`<path class="grid" d="M0 0H%d M0 %dH%d M0 %dH%d"/>`, width, height/2, width, height, width)
	return d
}

// end closes the SVG image and returns it as HTML. All texts in it are escaped.
func (d *drawing) end() template.HTML {
	d.printf(`</svg>`)
	return template.HTML(d.String()) //nolint:gosec // see above
}

// length returns the number of points in time of the series. It returns at least 1, because
// callers divide by it.
func length(series []Series) int {
	if len(series) == 0 || len(series[0].Values) == 0 {
		return 1
	}
	return len(series[0].Values)
}

// greatestSum returns the greatest sum of all series at one point in time.
func greatestSum(series []Series) float64 {
	highest := 0.0
	for at := range length(series) {
		sum := 0.0
		for _, s := range series {
			if at < len(s.Values) {
				sum += s.Values[at]
			}
		}
		highest = math.Max(highest, sum)
	}
	return highest
}

// level returns the vertical coordinate of the value v in the SVG image, if upper is the
// value at its top.
func level(v, upper float64) float64 { return height * (1 - v/upper) }

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
