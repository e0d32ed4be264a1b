package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// SeriesIn has the window, the period and the filters of a report over time.
type SeriesIn struct {
	From     *time.Time `json:"from,omitempty" jsonschema_description:"Start of the window, inclusive. Default: 30 days before now, or before to if that is earlier."`
	To       *time.Time `json:"to,omitempty" jsonschema_description:"End of the window, exclusive. Default: now."`
	GroupBy  Period     `json:"group_by,omitempty" jsonschema:"enum=day,enum=week,enum=month,default=day" jsonschema_description:"Length of a period, in UTC; weeks begin on Monday."`
	Channel  string     `json:"channel,omitempty" jsonschema:"format=uuid" jsonschema_description:"Id of a channel."`
	Identity string     `json:"identity,omitempty" jsonschema:"maxLength=320" jsonschema_description:"A domain, or an address, whose domain is used."`
}

// DeliverabilityPoint has the number of messages sent in a period, and how many of them
// were delivered, bounced, complained about and suppressed.
type DeliverabilityPoint struct {
	Period       time.Time `json:"period" jsonschema_description:"Start of the period in which the messages were sent, UTC."`
	Sent         int64     `json:"sent"`
	Delivered    int64     `json:"delivered"`
	Bounced      int64     `json:"bounced"`
	Complained   int64     `json:"complained"`
	Suppressed   int64     `json:"suppressed"`
	DeliveryRate float64   `json:"delivery_rate" jsonschema_description:"Delivered messages divided by sent ones, at most 1; 0 if none was sent."`
}

func (r *Reports) deliverability() core.Operation {
	return core.Declare(core.Op[SeriesIn, core.Collection[DeliverabilityPoint]]{
		Name:    "reports_deliverability",
		Title:   "Report deliverability",
		Purpose: "Reports the outcomes of mail by the time it was sent, oldest first. Periods without mail are omitted.",
		Example: `{"group_by": "month"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ReportsView},
		Fails:   []core.Code{core.CodePlanRetentionExceeded},
		Do: func(ctx context.Context, c *core.Call, in SeriesIn) (core.Collection[DeliverabilityPoint], error) {
			return seriesOf(ctx, r, c, in, func(p DayCounts) DeliverabilityPoint {
				return DeliverabilityPoint{p.Day, p.Sent, p.Delivered, p.Bounced, p.Complained, p.Suppressed, p.deliveryRate()}
			})
		},
	})
}

// seriesOf returns a report over time with one entry for each period that has counts. point
// converts the counts of a period to an entry.
func seriesOf[P any](ctx context.Context, r *Reports, c *core.Call, in SeriesIn, point func(DayCounts) P) (core.Collection[P], error) {
	report := core.Collection[P]{Data: []P{}}
	f, ok, err := r.filterBy(ctx, c, in.From, in.To, in.Channel, in.Identity)
	if err != nil || !ok {
		return report, err
	}
	found, err := r.read(ctx, c.Principal.Org.ID, f, c.Now, wantedFigures{days: true})
	if err != nil {
		return report, err
	}
	for _, p := range series(found.days, in.GroupBy) {
		report.Data = append(report.Data, point(p))
	}
	return report, nil
}
