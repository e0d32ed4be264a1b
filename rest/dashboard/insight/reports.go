package insight

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
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

// query returns the request as the query of an address.
func (a reportRequest) query() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"report": a.Report, "group": a.Group, "from_day": a.From, "to_day": a.To, "channel": a.Channel, "identity": a.Identity,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q.Encode()
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
	Days  string
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
	data := reportsPage{All: ReportsPath, Request: a, CSV: csvPath + "?" + a.query()}
	data.Reports = frame.ChooseOption([]frame.Option{
		{Value: "deliverability", Name: "Deliverability"}, {Value: "engagement", Name: "Engagement"}, {Value: "templates", Name: "Templates"},
	}, a.Report)
	data.Groups = frame.ChooseOption([]frame.Option{{Value: "day", Name: "Day"}, {Value: "week", Name: "Week"}, {Value: "month", Name: "Month"}}, a.Group)
	channels := h.channelsOf(r, v)
	for _, c := range channels {
		data.Channels = append(data.Channels, frame.Option{Value: c.Slug, Name: frame.PlainName(c.Slug)})
	}
	data.Channels = frame.ChooseOption(data.Channels, a.Channel)
	screen := frame.Screen{Page: "reports", Title: "Reports", Head: frame.Head{Lead: "Each message counts in the period in which it was sent. Days are days in UTC."}}
	rows, err := h.readReport(r, v, a, channels)
	status := http.StatusOK
	if err != nil {
		e := core.AsError(err)
		if e.Code != core.CodeValidationFailed && e.Code != core.CodePlanRetentionExceeded {
			h.Fail(w, r, v, err)
			return
		}
		screen.Problem, status = e.Message+" "+e.NextStep(), e.HTTPStatus()
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
func (h reportHandlers) readReport(r *http.Request, v people.Visitor, a reportRequest, channels []channelOption) ([]reportRow, error) {
	operations := map[string]string{
		"deliverability": "reports_deliverability", "engagement": "reports_engagement", "templates": "reports_template_performance",
	}
	operation, ok := operations[a.Report]
	if !ok {
		return nil, core.Invalid("report", "must be deliverability, engagement or templates")
	}
	arguments := map[string]any{}
	if a.Report != "templates" {
		arguments["group_by"] = a.Group
	}
	if a.Identity != "" {
		arguments["identity"] = a.Identity
	}
	if a.Channel != "" {
		id := idOfSlug(channels, a.Channel)
		if id == "" {
			return nil, core.Invalid("channel", "does not exist, or you may not view channels")
		}
		arguments["channel"] = id
	}
	for name, text := range map[string]string{"from": a.From, "to": a.To} {
		if text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil, core.Invalid(name, "must be a day such as 2026-03-12")
		}
		if name == "to" {
			day = day.AddDate(0, 0, 1)
		}
		arguments[name] = day
	}
	var report struct {
		Data []reportRow `json:"data"`
	}
	err := h.Read(r, v, operation, arguments, &report)
	return report.Data, err
}

// channelOption is a channel as the operation channels_list returns it.
type channelOption struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
}

// channelsOf returns the channels of the organization, nil if the visitor may not view them
// or they cannot be read.
func (i *Insight) channelsOf(r *http.Request, v people.Visitor) []channelOption {
	if !v.Member.Has(members.MayViewSending) {
		return nil
	}
	var page struct {
		Data []channelOption `json:"data"`
	}
	if err := i.Read(r, v, "channels_list", map[string]any{"limit": 200}, &page); err != nil {
		return nil
	}
	return page.Data
}

// idOfSlug returns the id of the channel with this slug, "" for an unknown one.
func idOfSlug(channels []channelOption, slug string) string {
	for _, c := range channels {
		if strings.EqualFold(c.Slug, slug) {
			return c.ID
		}
	}
	return ""
}
