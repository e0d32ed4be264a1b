package reports

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// EngagementPoint has the opens and clicks of the messages that were sent in a period. The
// opens and clicks may take place after the period.
type EngagementPoint struct {
	Period       time.Time `json:"period" jsonschema_description:"Start of the period in which the messages were sent, UTC."`
	Sent         int64     `json:"sent"`
	Delivered    int64     `json:"delivered"`
	Opens        int64     `json:"opens"`
	UniqueOpens  int64     `json:"unique_opens" jsonschema_description:"Each recipient of a message counts once."`
	Clicks       int64     `json:"clicks"`
	UniqueClicks int64     `json:"unique_clicks" jsonschema_description:"Each recipient of a message counts once."`
	OpenRate     float64   `json:"open_rate" jsonschema_description:"Unique opens divided by delivered messages, at most 1; 0 if none was delivered."`
	ClickRate    float64   `json:"click_rate" jsonschema_description:"Unique clicks divided by delivered messages, at most 1; 0 if none was delivered."`
}

func (r *Reports) engagement() core.Operation {
	return core.Declare(core.Op[SeriesIn, core.Collection[EngagementPoint]]{
		Name:    "reports_engagement",
		Title:   "Report engagement",
		Purpose: "Reports opens and clicks by the time at which the mail was sent, oldest first. Periods without mail are omitted.",
		Example: `{"group_by": "month"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ReportsView},
		Fails:   []core.Code{core.CodePlanRetentionExceeded},
		Do: func(ctx context.Context, c *core.Call, in SeriesIn) (core.Collection[EngagementPoint], error) {
			return seriesOf(ctx, r, c, in, func(p DayCounts) EngagementPoint {
				return EngagementPoint{
					p.Day, p.Sent, p.Delivered, p.Opens, p.UniqueOpens, p.Clicks, p.UniqueClicks, p.openRate(), p.clickRate(),
				}
			})
		},
	})
}
