package insight

import (
	"fmt"
	"math"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// rateDays is the number of days that one point of a rate covers. A rate of a single day
// would jump on days with few messages.
const rateDays = 7

// sevenDays explains the points of a rate in the summary of a chart.
const sevenDays = "Each point is the rate of the seven days up to it. With fewer than 100 messages in these days there is no point."

// troubleRate describes the chart of a rate that has a threshold.
type troubleRate struct {
	id, title, name string
	verb            string // what a message did, as in "bounced"
	status          string // the name of the status in the address of the messages page
	color           chart.Color
	part            func(reports.Counts) int64
	level           func(reports.Counts) reports.Level
	rate, review    float64
}

// panel returns the chart for the days of the overview.
func (t troubleRate) panel(o reports.Overview) chart.Panel {
	sent := func(c reports.Counts) int64 { return c.Sent }
	threshold := frame.ShortPercentage(t.review)
	return chart.Plan{
		ID: t.id, Title: t.title, Draw: chart.Lines, Write: frame.Percentage, Axis: frame.ShortPercentage, Days: daysOf(o),
		Summary:    fmt.Sprintf("%s of the messages %s. The provider reviews an account from %s on. %s", frame.Percentage(t.rate), t.verb, threshold, sevenDays),
		Columns:    []chart.Column{countColumn(o, "Sent", sent), countColumn(o, t.name, t.part)},
		Series:     []chart.Series{{Name: t.title, Values: weekRates(o, t.part, sent), Color: t.color}},
		Thresholds: []chart.Threshold{{Value: t.review, Name: "Review from " + threshold}},
		Marks:      t.marks(o),
		Marked:     "Days that reached " + threshold + " by themselves, with 100 messages or more",
	}.Panel()
}

// marks returns the days on which the rate reached the threshold, with links to their
// messages. Days with few messages, or a single bounce or complaint, are not among them.
func (t troubleRate) marks(o reports.Overview) []chart.Mark {
	var marks []chart.Mark
	for i, d := range o.Days {
		part := t.part(d.Counts)
		if t.level(d.Counts) != reports.AtReview {
			continue
		}
		marks = append(marks, chart.Mark{
			At: i, Path: frame.Address(frame.Path+"/messages", frame.Parameters{"date": d.Day.Format(frame.DateLayout), "status": t.status}),
			Text: fmt.Sprintf("%s: %s, %s of %s messages", d.Day.Format("2 January"), frame.Percentage(reports.Share(part, d.Sent)), core.WithCommas(part), core.WithCommas(d.Sent)),
		})
	}
	return marks
}

// weekRates returns the rate part/whole of the seven days up to each day of the overview.
// The first days have fewer days before them. The rate of fewer than [reports.MinMessages]
// messages is NaN.
func weekRates(o reports.Overview, part, whole func(reports.Counts) int64) []float64 {
	rates := make([]float64, len(o.Days))
	for i := range o.Days {
		var parts, wholes int64
		for _, d := range o.Days[max(0, i+1-rateDays) : i+1] {
			parts, wholes = parts+part(d.Counts), wholes+whole(d.Counts)
		}
		rates[i] = reports.Share(parts, wholes)
		if wholes < reports.MinMessages {
			rates[i] = math.NaN()
		}
	}
	return rates
}
