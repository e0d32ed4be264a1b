package domainauth

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// overviewWindows are the numbers of days that the charts can show.
var overviewWindows = []int{30, 90, 365}

// figure is a number with its name, and the page about it or "".
type figure struct{ Number, Name, Path string }

// overviewPage is the data of the page of a domain.
type overviewPage struct {
	domainHead
	Asks       string
	Subdomains string
	Next       nextStep
	Figures    []figure
	WindowDays int
	Periods    frame.Periods
	Days       int
	Covered    int
	Outcomes   *chart.Panel // nil without reports in the window
	Handling   *chart.Panel // nil if receivers treated no mail specially
	LastReport frame.When
	Guide      *frame.Link
}

// showOverview shows a domain: its posture, the next step and charts.
func (h *Room) showOverview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	days := overviewWindows[0]
	if asked := r.URL.Query().Get("days"); asked != "" {
		days, _ = strconv.Atoi(asked)
		if !slices.Contains(overviewWindows, days) {
			h.Refuse(w, r, v, http.StatusUnprocessableEntity, "This window is not supported", "Choose one of the windows on the page of the domain.")
			return
		}
	}
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	data := overviewPage{
		domainHead: newDomainHead(p.Posture, tabOverview), Asks: whatPolicyAsks(p.Policy), Next: nextStepOf(p.Posture), WindowDays: readiness.WindowDays, Days: days,
		Guide: h.Guide(guide, "From none to reject"),
	}
	if p.SubdomainPolicy != nil && *p.SubdomainPolicy != *p.Policy {
		data.Subdomains = *p.SubdomainPolicy
	}
	data.Figures = figuresOf(p.Posture, data.Path)
	if p.LastReportAt != nil {
		data.LastReport = h.When(*p.LastReportAt)
	}
	data.Periods = frame.PeriodsOf("Window", overviewWindows, days, domainauth.RetentionDays, func(days int) string {
		return data.Path + "?days=" + strconv.Itoa(days)
	})
	if err := h.drawCharts(r, v, &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, http.StatusOK, p.Domain, frame.Screen{Page: "overview", Title: p.Domain, Data: data})
}

// figuresOf returns the numbers at the top of the page of a domain.
func figuresOf(p domainauth.Posture, path string) []figure {
	return []figure{
		{percentage(p.PassRate), "passed", ""},
		{core.WithCommas(p.MessageVolume), "messages", ""},
		{strconv.Itoa(p.CoverageDays), "days with reports", ""},
		{strconv.Itoa(p.OpenFindings), "findings", path + tabSources},
		{strconv.Itoa(p.SourceCounts.Unreviewed), "sources to decide", path + tabSources + "?decision=unreviewed"},
	}
}

// drawCharts adds the charts of the complete days before today, with the events in them. Those are
// the days of the figures above them.
func (h *Room) drawCharts(r *http.Request, v people.Visitor, data *overviewPage) error {
	from, to := figures.AddDays(h.Clock(), -data.Days), figures.DayOf(h.Clock())
	arguments := named(r)
	arguments["from"], arguments["to"] = from, to
	var outcomes core.Collection[domainauth.DayOutcomes]
	if err := h.Read(r, v, "domain_auth_timeseries_get", arguments, &outcomes); err != nil {
		return err
	}
	data.Covered = len(outcomes.Data)
	if data.Covered == 0 {
		return nil
	}
	var events frame.List[domainauth.Event]
	arguments["limit"] = maxEvents
	if err := h.Read(r, v, "domain_auth_timeline_list", arguments, &events); err != nil {
		return err
	}
	c := newCharts(from, data.Days, outcomes.Data, events.Data, data.Path)
	data.Outcomes, data.Handling = c.outcomes(), c.handling()
	return nil
}
