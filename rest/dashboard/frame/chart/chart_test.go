package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenDrawings(t *testing.T) {
	t.Parallel()
	two := []chart.Series{{Name: "Bounced", Values: []float64{0, 3, 12, 1}, Color: chart.Bounced}, {Name: "Complained", Values: []float64{1, 0, 5, 0}}}
	gaps := []chart.Series{{Name: "Rate", Values: []float64{0.01, math.NaN(), 0.07, 0.02}, Color: chart.Complained}}
	review := []chart.Threshold{{Value: 0.05, Name: "Review from 5 %"}}
	for name, f := range map[string]chart.Figure{
		"bars":      {ID: "b", Title: "Trouble", Description: "Most on the third day.", Series: two, Texts: []string{"a", "b", "c", "d"}},
		"lines":     {ID: "l", Kind: chart.Lines, Title: "Rates", Description: "Falling.", Series: two},
		"threshold": {ID: "t", Kind: chart.Lines, Series: gaps, Thresholds: review, Texts: []string{"a", "b", "c", "d"}, Marks: []chart.Mark{{At: 2, Text: "Over 5 %", Path: "/m?a=1&b=2"}}},
		"events": {
			ID: "e", Series: []chart.Series{{Name: "Passed", Values: []float64{4, math.NaN(), 0, 2}}, {Name: "Failed", Values: []float64{1, math.NaN(), 0, math.NaN()}}}, ShowGaps: true,
			Texts: []string{"a", "b", "c", "d"}, Marks: []chart.Mark{{At: 1, Text: "The record changed", Path: "/e", IsEvent: true}},
		},
		"hostile": {
			ID: "h", Title: `<script>&"'`, Description: "</desc><a href='x'>", Series: two, Texts: []string{`</title><script>`, "b", `"><script>`, "d"},
			Thresholds: []chart.Threshold{{Value: 1, Name: "</text><script>"}}, Marks: []chart.Mark{{At: 2, Text: `"><script>`, Path: `"><script>`}},
		},
		"bars_nothing":  {ID: "n"},
		"lines_nothing": {ID: "n", Kind: chart.Lines, Series: []chart.Series{{Name: "None"}}},
		"lines_one":     {ID: "o", Kind: chart.Lines, Series: []chart.Series{{Name: "One", Values: []float64{0.02}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svg, _ := chart.Draw(f)
			wantWellFormed(t, string(svg))
			golden := filepath.Join("testdata", name+".svg")
			if *update {
				if err := goldentest.Write(golden, []byte(string(svg)+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != string(svg)+"\n" {
				t.Errorf("got\n%s\nwant\n%s", svg, want)
			}
		})
	}
}

// wantWellFormed fails the test unless the SVG image is well-formed XML and has only the
// elements of charts.
func wantWellFormed(t *testing.T, svg string) {
	t.Helper()
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "line": true, "rect": true, "polyline": true, "circle": true, "text": true, "a": true}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok && !allowed[start.Name.Local] {
			t.Errorf("<%s> in %s", start.Name.Local, svg)
		}
	}
}

func TestUpperEnds(t *testing.T) {
	t.Parallel()
	for highest, want := range map[float64]float64{0: 1, 0.03: 0.04, 0.5: 0.5, 1: 1, 3: 4, 41: 50, 51: 100, 1001: 2000} {
		_, max := chart.Draw(chart.Figure{Kind: chart.Lines, Series: []chart.Series{{Name: "x", Values: []float64{highest}}}})
		if diff := max - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("upper end for %v = %v, want %v", highest, max, want)
		}
	}
	_, max := chart.Draw(chart.Figure{Thresholds: []chart.Threshold{{Value: 0.05}}})
	if max < 0.05 {
		t.Errorf("the axis ends at %v, below the threshold", max)
	}
}

// TestGapLegend checks that the legend names days without values only if there are any.
func TestGapLegend(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	for value, want := range map[float64]int{0: 1, math.NaN(): 2} {
		panel := chart.Plan{
			Write: func(float64) string { return "" }, Axis: func(float64) string { return "" }, Gap: "No reports",
			Days: []time.Time{day}, Series: []chart.Series{{Name: "Passed", Values: []float64{value}}},
		}.Panel()
		if len(panel.Legend) != want {
			t.Errorf("legend for %v: %v", value, panel.Legend)
		}
	}
}

// TestPointsWithoutTextHaveNoColumn draws a chart whose first point has no values.
func TestPointsWithoutTextHaveNoColumn(t *testing.T) {
	t.Parallel()
	drawing, _ := chart.Draw(chart.Figure{
		ID: "c", Kind: chart.Lines, Title: "Calls", Series: []chart.Series{{Name: "Calls", Values: []float64{math.NaN(), 2}}}, Texts: []string{"", "10:00: 2."},
	})
	if columns := strings.Count(string(drawing), `class="day"`); columns != 1 || strings.Contains(string(drawing), "<title></title>") {
		t.Errorf("%d columns, want 1: %s", columns, drawing)
	}
}

// TestTable checks the table of a chart: the newest day first, further columns before the
// series, and a dash for a value that is left out.
func TestTable(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	write := func(v float64) string { return time.Duration(v).String() }
	panel := chart.Plan{
		Draw: chart.Lines, Write: write, Axis: write, Days: []time.Time{first, first.AddDate(0, 0, 1)},
		Series:  []chart.Series{{Name: "Rate", Values: []float64{3, math.NaN()}}},
		Columns: []chart.Column{{Name: "Sent", Values: []string{"10", "20"}}},
	}.Panel()
	want := chart.Table{First: "Day", Columns: []string{"Sent", "Rate"}, Rows: []chart.Row{
		{Name: "2026-03-04", Values: []string{"20", "–"}}, {Name: "2026-03-03", Values: []string{"10", "3ns"}},
	}}
	if diff := cmp.Diff(want, panel.Table); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(panel.Drawing), "<title>2026-03-03: Sent 10, Rate 3ns</title>") {
		t.Errorf("the drawing has no values of the first day: %s", panel.Drawing)
	}
}
