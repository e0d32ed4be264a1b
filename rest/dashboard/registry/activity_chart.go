package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// chartDays is the number of days in the chart. chartNames is the number of names with a
// series of their own; all other names share one series.
const (
	chartDays  = 14
	chartNames = 2
)

// dailyChart returns the chart of activities by day and name, or nil without one; see
// [activitiesPage].
func (h activityHandlers) dailyChart(r *http.Request, v people.Visitor) (*chart.Panel, error) {
	counts, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) ([]activities.DayCount, error) {
		counts, _, err := h.Activities.DailyCounts(ctx, v.Org.ID, v.Org.RetentionDays, chartDays)
		return counts, err
	})
	if err != nil || len(counts) == 0 {
		return nil, err
	}
	today := frame.DayStart(h.Clock())
	days := make([]time.Time, chartDays)
	for i := range days {
		days[i] = today.AddDate(0, 0, i+1-chartDays)
	}
	total := 0
	for _, c := range counts {
		total += c.Count
	}
	panel := chart.Plan{
		ID: "daily", Title: "Activities by day", Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count, Days: days, Series: seriesOf(counts, days),
		Summary: fmt.Sprintf("%s activities in the last %d days.", core.WithCommas(total), chartDays),
	}.Panel()
	return &panel, nil
}

// seriesOf returns a series for each of the most frequent names, and one for the others.
func seriesOf(counts []activities.DayCount, days []time.Time) []chart.Series {
	totals := map[string]int{}
	for _, c := range counts {
		totals[c.Name] += c.Count
	}
	names := slices.SortedFunc(maps.Keys(totals), func(a, b string) int {
		return cmp.Or(cmp.Compare(totals[b], totals[a]), strings.Compare(a, b))
	})
	var series []chart.Series
	seriesOfName := map[string]int{} // callers choose the names, so there may be very many
	for i, name := range names {
		switch {
		case i < chartNames || len(names) == chartNames+1:
			series = append(series, chart.Series{Name: frame.PlainName(name), Values: make([]float64, len(days))})
		case i == chartNames:
			series = append(series, chart.Series{Name: "Others", Values: make([]float64, len(days))})
		}
		seriesOfName[name] = len(series) - 1
	}
	for _, c := range counts {
		// an activity may be up to five minutes ahead, and so be on the next day
		if at := int(c.Day.Sub(days[0]).Hours() / 24); at >= 0 {
			series[seriesOfName[c.Name]].Values[min(at, len(days)-1)] += float64(c.Count)
		}
	}
	return series
}
