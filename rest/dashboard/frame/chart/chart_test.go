package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenDrawings(t *testing.T) {
	t.Parallel()
	two := []chart.Series{{"Bounced", []float64{0, 3, 12, 1}}, {"Complained", []float64{1, 0, 5, 0}}}
	hostile := chart.Figure{ID: "h", Title: `<script>&"'`, Description: "</desc><a href='x'>", Series: two}
	for name, draw := range map[string]func() (template.HTML, float64){
		"bars": func() (template.HTML, float64) {
			return chart.StackedBars(chart.Figure{ID: "b", Title: "Trouble", Description: "Most on the third day.", Series: two})
		},
		"lines": func() (template.HTML, float64) {
			return chart.Lines(chart.Figure{ID: "l", Title: "Rates", Description: "Falling.", Series: two})
		},
		"bars_hostile": func() (template.HTML, float64) { return chart.StackedBars(hostile) },
		"bars_nothing": func() (template.HTML, float64) { return chart.StackedBars(chart.Figure{ID: "n"}) },
		"lines_nothing": func() (template.HTML, float64) {
			return chart.Lines(chart.Figure{ID: "n", Series: []chart.Series{{"None", nil}}})
		},
		"lines_one": func() (template.HTML, float64) {
			return chart.Lines(chart.Figure{ID: "o", Series: []chart.Series{{"One", []float64{0.02}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svg, _ := draw()
			wantWellFormed(t, string(svg))
			golden := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(golden, []byte(string(svg)+"\n"), 0o644); err != nil {
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
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "path": true, "g": true, "rect": true, "polyline": true}
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
		_, max := chart.Lines(chart.Figure{Series: []chart.Series{{"x", []float64{highest}}}})
		if diff := max - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("upper end for %v = %v, want %v", highest, max, want)
		}
	}
}
