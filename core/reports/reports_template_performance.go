package reports

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// TemplatePerformanceIn has the window and the filters of reports_template_performance.
type TemplatePerformanceIn struct {
	From     *time.Time `json:"from,omitempty" jsonschema_description:"Start of the window, inclusive. Default: 30 days before now, or before to if that is earlier."`
	To       *time.Time `json:"to,omitempty" jsonschema_description:"End of the window, exclusive. Default: now."`
	Channel  string     `json:"channel,omitempty" jsonschema:"format=uuid" jsonschema_description:"Id of a channel."`
	Identity string     `json:"identity,omitempty" jsonschema:"maxLength=320" jsonschema_description:"A domain, or an address, whose domain is used."`
	Template string     `json:"template,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Name of one template; case does not matter."`
}

// TemplateRow has the counts and rates of the messages that were sent with one template.
type TemplateRow struct {
	Template      string  `json:"template" voice:"untrusted"`
	Sent          int64   `json:"sent"`
	Delivered     int64   `json:"delivered"`
	Bounced       int64   `json:"bounced"`
	Complained    int64   `json:"complained"`
	Opens         int64   `json:"opens"`
	UniqueOpens   int64   `json:"unique_opens"`
	Clicks        int64   `json:"clicks"`
	UniqueClicks  int64   `json:"unique_clicks"`
	BounceRate    float64 `json:"bounce_rate" jsonschema_description:"Bounced messages divided by sent ones."`
	ComplaintRate float64 `json:"complaint_rate" jsonschema_description:"Messages with a complaint divided by sent ones."`
	OpenRate      float64 `json:"open_rate" jsonschema_description:"Unique opens divided by delivered messages."`
	ClickRate     float64 `json:"click_rate" jsonschema_description:"Unique clicks divided by delivered messages."`
}

func (r *Reports) templatePerformance() core.Operation {
	return core.Declare(core.Op[TemplatePerformanceIn, core.Collection[TemplateRow]]{
		Name:    "reports_template_performance",
		Title:   "Report template performance",
		Purpose: "Compares templates by the outcome of their mail in the window, those with the most mail first. Mail without a template is omitted.",
		Example: `{"template": "weekly-newsletter"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ReportsView},
		Fails:   []core.Code{core.CodePlanRetentionExceeded},
		Do:      r.compareTemplates,
	})
}

func (r *Reports) compareTemplates(ctx context.Context, c *core.Call, in TemplatePerformanceIn) (core.Collection[TemplateRow], error) {
	report := core.Collection[TemplateRow]{Data: []TemplateRow{}}
	f, ok, err := r.filterBy(ctx, c, in.From, in.To, in.Channel, in.Identity)
	if err != nil || !ok {
		return report, err
	}
	found, err := r.read(ctx, c.Principal.Org.ID, f, c.Now, wantedFigures{groups: true})
	if err != nil {
		return report, err
	}
	for name, sum := range sumByTemplate(found.groups) {
		if name != "" && (in.Template == "" || strings.EqualFold(name, in.Template)) {
			report.Data = append(report.Data, templateRow(name, sum))
		}
	}
	slices.SortFunc(report.Data, func(a, b TemplateRow) int {
		return cmp.Or(cmp.Compare(b.Sent, a.Sent), strings.Compare(a.Template, b.Template))
	})
	return report, nil
}

func sumByTemplate(groups map[Group]Counts) map[string]Counts {
	sums := map[string]Counts{}
	for g, c := range groups {
		addTo(sums, g.Template, c)
	}
	return sums
}

func sumByChannel(groups map[Group]Counts) map[string]Counts {
	sums := map[string]Counts{}
	for g, c := range groups {
		addTo(sums, g.Channel, c)
	}
	return sums
}

func templateRow(name string, c Counts) TemplateRow {
	return TemplateRow{
		Template: name, Sent: c.Sent, Delivered: c.Delivered, Bounced: c.Bounced, Complained: c.Complained,
		Opens: c.Opens, UniqueOpens: c.UniqueOpens, Clicks: c.Clicks, UniqueClicks: c.UniqueClicks,
		BounceRate: c.bounceRate(), ComplaintRate: c.complaintRate(), OpenRate: c.openRate(), ClickRate: c.clickRate(),
	}
}
