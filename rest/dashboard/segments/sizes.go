package segments

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// sizeDays are the periods of the chart of a segment's size that a visitor can choose, in
// days. The first is shown by default.
var sizeDays = []int{30, 90}

// addSizes adds the chart of the segment's size over the chosen period. There is no chart
// until the size is known for two days.
func (h *Segments) addSizes(r *http.Request, v people.Visitor, s segments.Segment, data *segmentPage) error {
	days := sizeDays[0]
	for _, n := range sizeDays {
		if r.URL.Query().Get("days") == strconv.Itoa(n) {
			days = n
		}
	}
	sizes, err := h.Author.Sizes(r.Context(), v.Org.ID, s.ID, days)
	if err != nil || len(sizes) < 2 {
		return err
	}
	data.Periods = frame.PeriodsOf("Days of the chart", sizeDays, days, slices.Max(sizeDays), func(days int) string {
		return pathOf(s) + "?days=" + strconv.Itoa(days)
	})
	panel := chartOf(sizes, days)
	data.Sizes = &panel
	return nil
}

// chartOf returns the chart of sizes over the given number of days. Days before the first
// size are left out of the line.
func chartOf(sizes []segments.Size, days int) chart.Panel {
	first, last := sizes[0], sizes[len(sizes)-1]
	all, values := make([]time.Time, days), make([]float64, days)
	for i := range days {
		all[i], values[i] = last.Day.AddDate(0, 0, i+1-days), math.NaN()
		if known := i - (days - len(sizes)); known >= 0 {
			values[i] = float64(sizes[known].Members)
		}
	}
	change := "as many as"
	switch difference := last.Members - first.Members; {
	case difference > 0:
		change = core.WithCommas(difference) + " more than"
	case difference < 0:
		change = core.WithCommas(-difference) + " fewer than"
	}
	return chart.Plan{
		ID: "size", Title: "Size", Draw: chart.Lines, Write: frame.Count, Axis: frame.Count, Days: all,
		Series:  []chart.Series{{Name: "Members", Values: values}},
		Summary: fmt.Sprintf("%s members, %s on %s. Each day counts the members after its last evaluation, in UTC.", core.WithCommas(last.Members), change, first.Day.Format("2 January 2006")),
	}.Panel()
}
