package domainauth

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// maxEvents is the number of events that a chart shows at most: the newest.
const maxEvents = 200

// maxListed is the number of days with events that are listed below a chart. More of them are
// only drawn.
const maxListed = 8

// charts draws the days of a domain. A day that no report covers is a gap: nothing is known of
// it.
type charts struct {
	days     []time.Time
	byDay    map[string]domainauth.DayOutcomes
	marks    []chart.Mark
	timeline string
}

// newCharts returns the charts of a number of days from a day on. path is that of the domain.
func newCharts(from time.Time, days int, outcomes []domainauth.DayOutcomes, events []domainauth.Event, path string) charts {
	c := charts{byDay: map[string]domainauth.DayOutcomes{}, timeline: path + tabTimeline}
	for i := range days {
		c.days = append(c.days, figures.AddDays(from, i))
	}
	for _, d := range outcomes {
		c.byDay[d.Date] = d
	}
	c.marks = c.marksOf(events)
	return c
}

// marksOf returns one mark for each day with events. It leads to the comparison around a single
// event, and to the timeline for several.
func (c charts) marksOf(events []domainauth.Event) []chart.Mark {
	byDay := map[int][]domainauth.Event{}
	for _, e := range events {
		byDay[figures.Days(c.days[0], e.OccurredAt)] = append(byDay[figures.Days(c.days[0], e.OccurredAt)], e)
	}
	var marks []chart.Mark
	for at, day := range c.days {
		found := byDay[at]
		if len(found) == 0 {
			continue
		}
		titles := make([]string, len(found))
		for i, e := range found {
			titles[i] = titleOf(e)
		}
		m := chart.Mark{At: at, IsEvent: true, Text: day.Format("2 January") + ": " + strings.Join(titles, "; "), Path: c.timeline + "#day-" + day.Format(time.DateOnly)}
		if len(found) == 1 {
			m.Path = eventPath(c.timeline, found[0])
		}
		marks = append(marks, m)
	}
	return marks
}

// series returns a series of a chart. Days without reports have no value.
func (c charts) series(name string, color chart.Color, figure func(domainauth.DayOutcomes) int64) chart.Series {
	s := chart.Series{Name: name, Color: color}
	for _, day := range c.days {
		value := math.NaN()
		if d, covered := c.byDay[day.Format(time.DateOnly)]; covered {
			value = float64(figure(d))
		}
		s.Values = append(s.Values, value)
	}
	return s
}

// sum adds a figure of all days.
func (c charts) sum(figure func(domainauth.DayOutcomes) int64) int64 {
	var sum int64
	for _, d := range c.byDay {
		sum = figures.Add(sum, figure(d))
	}
	return sum
}

// The figures of a day.
func passed(d domainauth.DayOutcomes) int64      { return d.Pass }
func failed(d domainauth.DayOutcomes) int64      { return d.Fail }
func quarantined(d domainauth.DayOutcomes) int64 { return d.Quarantined }
func refused(d domainauth.DayOutcomes) int64     { return d.Rejected }

// outcomes returns the chart of the messages that passed and failed.
func (c charts) outcomes() *chart.Panel {
	pass, fail := c.sum(passed), c.sum(failed)
	return c.panel(chart.Plan{
		ID: "outcomes", Title: "Passed and failed",
		Summary: fmt.Sprintf("%s of %s messages passed DMARC, %s failed.", core.WithCommas(pass), core.WithCommas(figures.Add(pass, fail)), core.WithCommas(fail)),
		Series:  []chart.Series{c.series("Passed", chart.Delivered, passed), c.series("Failed", chart.Bounced, failed)},
		Marks:   c.marks, Marked: "Events",
	})
}

// handling returns the chart of what receivers did with mail, or nil if they delivered all. It
// has an axis of its own, because most mail is delivered.
func (c charts) handling() *chart.Panel {
	spam, refusals := c.sum(quarantined), c.sum(refused)
	if spam == 0 && refusals == 0 {
		return nil
	}
	return c.panel(chart.Plan{
		ID: "handling", Title: "What receivers did",
		Summary: fmt.Sprintf("Receivers refused %s and put %s into the spam folder. To the others, they applied no policy.", frame.Quantity(refusals, "message", "messages"), core.WithCommas(spam)),
		Series:  []chart.Series{c.series("Spam folder", chart.Complained, quarantined), c.series("Refused", chart.Suppressed, refused)},
		Marks:   c.marks,
	})
}

// panel returns a chart of counts by day.
func (c charts) panel(p chart.Plan) *chart.Panel {
	p.Draw, p.Write, p.Axis, p.Days, p.Gap = chart.StackedBars, frame.Count, frame.Count, c.days, "No reports"
	panel := p.Panel()
	if p.Marked == "" || len(panel.Marks) > maxListed {
		panel.Marks = nil
	}
	return &panel
}
