package insight

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// HealthPath is the path of the page about sending health.
const HealthPath = frame.Path + "/health"

// healthWindows are the periods that a visitor can choose, in days.
var healthWindows = []int{7, 30, 90}

// healthPage is the data of the page about sending health.
type healthPage struct {
	Periods  frame.Periods
	Days     int
	Empty    bool
	Warnings []reports.Warning
	Figures  []figure
	// Deliveries is the widest chart. Charts are shown side by side.
	Deliveries chart.Panel
	Charts     []chart.Panel
	Domains    []domainShown
	Bounces    []bounceShown
	Masked     bool
}

// figure is a number on the page and its name, both as text. Path is the page with its
// messages, or "".
type figure struct{ Number, Name, Path string }

// domainShown is a domain of recipients with the number of bounces.
type domainShown struct {
	Domain  string
	Bounced int64
}

// bounceShown is the data of a recent bounce. Recipient is masked unless the visitor may
// search recipients.
type bounceShown struct {
	Path, Recipient, Kind, Template string
	At                              frame.When
}

// showHealth shows the report on sending health for the chosen period, by default 30 days.
// It refuses a period that the page does not offer or that is longer than the plan's
// retention.
func (h healthHandlers) showHealth(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	days := 30
	if asked := r.URL.Query().Get("days"); asked != "" {
		days, _ = strconv.Atoi(asked)
	}
	data := healthPage{Days: days, Masked: !v.Member.Has(members.MaySearchRecipients)}
	data.Periods = frame.PeriodsOf("Window", healthWindows, days, v.Org.RetentionDays, func(days int) string {
		return HealthPath + "?days=" + strconv.Itoa(days)
	})
	if !slices.Contains(healthWindows, days) || days > v.Org.RetentionDays {
		h.Refuse(w, r, v, http.StatusUnprocessableEntity, "This window is not supported", fmt.Sprintf(
			"Choose one of the windows on the page. The plan keeps %d days.", v.Org.RetentionDays))
		return
	}
	o, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) (reports.Overview, error) {
		return h.Reports.Overview(ctx, v.Org.ID, days, !data.Masked)
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.fill(o, h.When)
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "health", Title: "Sending health", Head: frame.Head{Lead: "Whether mail arrives, and whether its rates are near the limits of the provider."}, Data: data,
	})
}

// fill sets the figures and charts of the page. For a period without messages it only sets
// the field Empty.
func (p *healthPage) fill(o reports.Overview, when func(time.Time) frame.When) {
	p.Empty = o.Totals == reports.Counts{}
	if p.Empty {
		return
	}
	p.Warnings = o.Warnings
	p.Figures = []figure{
		{core.WithCommas(o.Totals.Sent), "sent", ""},
		{frame.Percentage(o.Rates.Delivery), "delivered", ""},
		{frame.Percentage(o.Rates.Bounce), "bounced", p.messagesPath(o, "bounce")},
		{frame.Percentage(o.Rates.Complaint), "complained", p.messagesPath(o, "complaint")},
		{frame.Percentage(o.Rates.Open), "opened", ""},
		{frame.Percentage(o.Rates.Click), "clicked", ""},
	}
	p.Deliveries = deliveryChart(o)
	p.Charts = []chart.Panel{bounceChart(o), complaintChart(o), engagementChart(o)}
	for _, f := range o.Domains {
		p.Domains = append(p.Domains, domainShown{frame.PlainName(f.Domain), f.Bounced})
	}
	for _, b := range o.Bounces {
		kind := b.Type
		if b.SubType != "" && b.SubType != b.Type {
			kind += ", " + b.SubType
		}
		p.Bounces = append(p.Bounces, bounceShown{
			frame.Path + "/messages/" + url.PathEscape(b.MessageID), frame.PlainName(b.Recipient), frame.PlainName(kind), frame.PlainName(b.Template), when(b.At),
		})
	}
}

// messagesPath returns the address of the messages with this status in the period.
func (p *healthPage) messagesPath(o reports.Overview, status string) string {
	return frame.Address(frame.Path+"/messages", frame.Parameters{"from_day": o.From.Format(frame.DateLayout), "status": status})
}
