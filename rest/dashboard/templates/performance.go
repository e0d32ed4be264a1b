package templates

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// figures are the counts and rates of the messages that were sent with a template in the
// last 30 days, as text. They are "" if no message was sent with it.
type figures struct {
	Sent, Delivered, Bounced, Complained string
	BounceRate, ComplaintRate            string
	OpenRate, ClickRate                  string
}

// performance returns the figures of templates by their name in lower case. name selects
// one template; "" means all. Without the permission for reports there are none.
func (h *Templates) performance(r *http.Request, v people.Visitor, name string) (map[string]figures, error) {
	byName := map[string]figures{}
	if !v.Member.Has(members.MayViewAnalytics) {
		return byName, nil
	}
	arguments := map[string]any{}
	if name != "" {
		arguments["template"] = name
	}
	var report struct {
		Data []struct {
			Template      string  `json:"template"`
			Sent          int64   `json:"sent"`
			Delivered     int64   `json:"delivered"`
			Bounced       int64   `json:"bounced"`
			Complained    int64   `json:"complained"`
			BounceRate    float64 `json:"bounce_rate"`
			ComplaintRate float64 `json:"complaint_rate"`
			OpenRate      float64 `json:"open_rate"`
			ClickRate     float64 `json:"click_rate"`
		} `json:"data"`
	}
	if err := h.Read(r, v, "reports_template_performance", arguments, &report); err != nil {
		return nil, err
	}
	for _, t := range report.Data {
		byName[strings.ToLower(t.Template)] = figures{
			Sent: core.WithCommas(t.Sent), Delivered: core.WithCommas(t.Delivered), Bounced: core.WithCommas(t.Bounced), Complained: core.WithCommas(t.Complained),
			BounceRate: frame.Percentage(t.BounceRate), ComplaintRate: frame.Percentage(t.ComplaintRate), OpenRate: frame.Percentage(t.OpenRate), ClickRate: frame.Percentage(t.ClickRate),
		}
	}
	return byName, nil
}
