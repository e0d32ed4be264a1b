package overview

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// panel is a chart of the last hour with the labels of its axes.
type panel struct {
	Title, Summary string
	Legend         []chart.Legend
	Drawing        template.HTML
	Upper, Half    string
}

// curve describes a chart: its series, each with a value for each time between two samples.
type curve struct {
	id, title string
	kind      chart.Kind
	series    []chart.Series
	// write formats a value with its unit.
	write func(float64) string
}

// panels returns the charts of the samples.
func panels(samples []sample) []panel {
	ends := samples[1:]
	byTime := func(value func(before, now sample, seconds float64) float64) []float64 {
		values := make([]float64, kept-1)
		for i := range values {
			values[i] = math.NaN() // times before the process started have no value
		}
		first := len(values) - len(ends)
		for i, now := range ends {
			before := samples[i]
			if seconds := now.at.Sub(before.at).Seconds(); seconds > 0 {
				values[first+i] = value(before, now, seconds)
			}
		}
		return values
	}
	calls := make([]chart.Series, len(surfaces))
	for i, surface := range surfaces {
		calls[i] = chart.Series{Name: surfaceNames[surface], Values: byTime(func(before, now sample, seconds float64) float64 {
			return (now.calls[surface] - before.calls[surface]) / seconds
		})}
	}
	duration := func(q float64) []float64 {
		return byTime(func(before, now sample, _ float64) float64 { return now.durations.since(before.durations).quantile(q) })
	}
	minute := time.Minute.Seconds()
	at := make([]time.Time, kept-1)
	for i := range ends {
		at[len(at)-len(ends)+i] = ends[i].at
	}
	curves := []curve{
		{"calls", "Calls", chart.StackedBars, calls, perSecond},
		{"durations", "Duration of calls", chart.Lines, []chart.Series{
			{Name: "99 of 100 are faster", Values: duration(0.99)}, {Name: "Half are faster", Values: duration(0.5)},
		}, milliseconds},
		{"trouble", "Calls without a result", chart.StackedBars, []chart.Series{
			{Name: "Above a limit", Color: chart.Suppressed, Values: byTime(func(before, now sample, seconds float64) float64 {
				return minute * (now.refused - before.refused) / seconds
			})},
			{Name: "Failed", Color: chart.Bounced, Values: byTime(func(before, now sample, seconds float64) float64 {
				return minute * (now.failed - before.failed) / seconds
			})},
		}, perMinute},
		{"memory", "Memory", chart.Lines, []chart.Series{
			{Name: "Resident", Values: byTime(func(_, now sample, _ float64) float64 { return now.resident })},
			{Name: "Live objects and garbage", Values: byTime(func(_, now sample, _ float64) float64 { return now.live })},
		}, megabytes},
	}
	drawn := make([]panel, len(curves))
	for i, c := range curves {
		drawn[i] = c.draw(at)
	}
	return drawn
}

// surfaceNames are the names of the surfaces on the page.
var surfaceNames = map[string]string{"agent": "Agents", "rest": "API", "dashboard": "Dashboard"}

// draw returns the chart with the values in words for each time.
func (c curve) draw(at []time.Time) panel {
	texts := make([]string, len(at))
	most, mostAt, newest := 0.0, time.Time{}, math.NaN()
	for i, t := range at {
		if t.IsZero() {
			continue
		}
		texts[i] = clockTime(t) + ":"
		highest := 0.0
		for _, s := range c.series {
			texts[i] += " " + s.Name + " " + c.value(s.Values[i]) + "."
			if c.kind == chart.StackedBars {
				highest += s.Values[i]
			} else {
				highest = math.Max(highest, zeroIfNone(s.Values[i]))
			}
		}
		if newest = highest; highest > most {
			most, mostAt = highest, t
		}
	}
	summary := "None in the last hour."
	if most > 0 {
		summary = fmt.Sprintf("Most in the last hour: %s, at %s. Now: %s.", c.write(most), clockTime(mostAt), c.value(newest))
	}
	drawing, upper := chart.Draw(chart.Figure{
		ID: c.id, Kind: c.kind, Title: c.title, Description: summary, Series: c.series, Texts: texts,
	})
	drawn := panel{Title: c.title, Summary: summary, Drawing: drawing, Upper: c.write(upper), Half: c.write(upper / 2)}
	for i, s := range c.series {
		drawn.Legend = append(drawn.Legend, chart.Legend{Name: s.Name, Class: s.Class(i)})
	}
	return drawn
}

// value formats a value that may be left out.
func (c curve) value(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return c.write(v)
}

func zeroIfNone(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
