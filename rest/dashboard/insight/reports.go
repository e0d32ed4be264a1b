package insight

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// The paths of the page with the reports and of the file with the shown report.
const (
	ReportsPath = frame.Path + "/reports"
	csvPath     = ReportsPath + "/csv"
)

// reportRequest is the report that the page's address states. Days are included.
type reportRequest struct {
	Report, Group, From, To, Channel, Identity string
}

// requestOf reads the report from the page's address.
func requestOf(q url.Values) reportRequest {
	a := reportRequest{
		Report: q.Get("report"), Group: q.Get("group"), From: q.Get("from_day"), To: q.Get("to_day"), Channel: q.Get("channel"), Identity: q.Get("identity"),
	}
	if a.Report == "" {
		a.Report = "deliverability"
	}
	if a.Group == "" || a.Report == "templates" {
		a.Group = "day"
	}
	return a
}

// csv returns the address of the file with the report.
func (a reportRequest) csv() string {
	return frame.Address(csvPath, frame.Parameters{
		"report": a.Report, "group": a.Group, "from_day": a.From, "to_day": a.To, "channel": a.Channel, "identity": a.Identity,
	})
}

// reportLabels are the names of the fields of a report's request in refusals.
var reportLabels = frame.Labels{
	"report": "The report", "group_by": "The period", "channel": "The channel", "identity": "The domain of the sender", "from": "The first day", "to": "The last day",
}

// reportsPage is the data of the page with the reports.
type reportsPage struct {
	All              string
	Request          reportRequest
	Reports          []frame.Option
	Groups, Channels []frame.Option
	// Chart is nil for a report without periods, or without rows.
	Chart *chart.Panel
	Table reportTable
	CSV   string
}

// reportTable is a report as a table. Names is true if the first column has names, not
// days.
type reportTable struct {
	Columns []string
	Rows    [][]string
	Names   bool
}

// showReports shows the report that the page's address states.
func (h reportHandlers) showReports(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	a := requestOf(r.URL.Query())
	data := reportsPage{All: ReportsPath, Request: a, CSV: a.csv()}
	data.Reports = frame.ChooseOption([]frame.Option{
		{Value: "deliverability", Name: "Deliverability"}, {Value: "engagement", Name: "Engagement"}, {Value: "templates", Name: "Templates"},
	}, a.Report)
	data.Groups = frame.ChooseOption([]frame.Option{{Value: "day", Name: "Day"}, {Value: "week", Name: "Week"}, {Value: "month", Name: "Month"}}, a.Group)
	channels := h.ReadableChannels(r, v)
	data.Channels = channels.Options(a.Channel)
	screen := frame.Screen{Page: "reports", Title: "Reports", Head: frame.Head{Lead: "Each message counts in the period in which it was sent. Days are days in UTC."}}
	rows, err := h.readReport(r, v, a, channels)
	var status int
	if screen.Problem, status = reportLabels.FilterProblem(err); err != nil && screen.Problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	data.Table = tableOf(a, rows)
	if len(rows) > 0 && a.Report != "templates" {
		panel := chartOfReport(a, rows)
		data.Chart = &panel
	}
	screen.Data = data
	h.Show(w, r, v, status, screen)
}

// reportRow is a row of any report, as the operations return it. A report has only some of
// the members.
type reportRow struct {
	Period        time.Time `json:"period"`
	Template      string    `json:"template"`
	Sent          int64     `json:"sent"`
	Delivered     int64     `json:"delivered"`
	Bounced       int64     `json:"bounced"`
	Complained    int64     `json:"complained"`
	Suppressed    int64     `json:"suppressed"`
	UniqueOpens   int64     `json:"unique_opens"`
	UniqueClicks  int64     `json:"unique_clicks"`
	DeliveryRate  float64   `json:"delivery_rate"`
	BounceRate    float64   `json:"bounce_rate"`
	ComplaintRate float64   `json:"complaint_rate"`
	OpenRate      float64   `json:"open_rate"`
	ClickRate     float64   `json:"click_rate"`
}

// readReport reads a report with its operation. It fails with validation_failed for a
// request that no report fits.
func (h reportHandlers) readReport(r *http.Request, v people.Visitor, a reportRequest, channels frame.Channels) ([]reportRow, error) {
	operations := map[string]string{
		"deliverability": "reports_deliverability", "engagement": "reports_engagement", "templates": "reports_template_performance",
	}
	operation, ok := operations[a.Report]
	if !ok {
		return nil, core.Invalid("report", "must be deliverability, engagement or templates")
	}
	channel, err := channels.IDOf(a.Channel)
	if err != nil {
		return nil, err
	}
	from, to, err := frame.DayRange(a.From, a.To)
	if err != nil {
		return nil, err
	}
	group := a.Group
	if a.Report == "templates" {
		group = ""
	}
	var report frame.List[reportRow]
	err = h.Read(r, v, operation, frame.SetArguments(map[string]any{
		"group_by": group, "identity": a.Identity, "channel": channel, "from": from, "to": to,
	}), &report)
	return report.Data, err
}
