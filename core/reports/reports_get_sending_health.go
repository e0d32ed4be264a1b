package reports

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// HealthIn has the window, the period and the filters of reports_get_sending_health.
type HealthIn struct {
	From     *time.Time `json:"from,omitempty" jsonschema_description:"Start, RFC 3339, such as 2026-03-01T00:00:00Z. Default: 30 days before to."`
	To       *time.Time `json:"to,omitempty" jsonschema_description:"End, not included, RFC 3339. Default: now."`
	Channel  string     `json:"channel,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Slug, such as marketing, or id of a channel. Default: all."`
	Identity string     `json:"identity,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Sending domain, such as example.com, or an address, whose domain is used. Default: all."`
	GroupBy  Period     `json:"group_by,omitempty" jsonschema:"enum=day,enum=week,enum=month,default=day" jsonschema_description:"Length of a period of the trend, in UTC. If the window has more than 31 periods, a longer one is used."`
}

// Health is the result of reports_get_sending_health: totals, rates, a trend, warnings and
// changes. It is short because agents read it.
type Health struct {
	From    time.Time      `json:"from"`
	To      time.Time      `json:"to"`
	Totals  Counts         `json:"totals"`
	Rates   Rates          `json:"rates"`
	GroupBy Period         `json:"group_by" jsonschema:"enum=day,enum=week,enum=month"`
	Trend   []TrendPoint   `json:"trend"`
	Warning []Warning      `json:"warnings"`
	Changed string         `json:"changed" voice:"ours"`
	Before  *ComparedRates `json:"before" jsonschema:"nullable"`
	Notable []Notable      `json:"notable"`
}

// Rates are fractions between 0 and 1: of the sent messages, or of the delivered messages
// for opens and clicks.
type Rates struct {
	Delivery  float64 `json:"delivery"`
	Bounce    float64 `json:"bounce"`
	Complaint float64 `json:"complaint"`
	Open      float64 `json:"open"`
	Click     float64 `json:"click"`
}

// ComparedRates has the volume and the rates of the window before the requested one, for
// comparison.
type ComparedRates struct {
	Sent      int64   `json:"sent"`
	Bounce    float64 `json:"bounce"`
	Complaint float64 `json:"complaint"`
	Open      float64 `json:"open"`
}

// TrendPoint has the main counts of one period of the window.
type TrendPoint struct {
	Period      time.Time `json:"period"`
	Sent        int64     `json:"sent"`
	Delivered   int64     `json:"delivered"`
	Bounced     int64     `json:"bounced"`
	Complained  int64     `json:"complained"`
	UniqueOpens int64     `json:"unique_opens"`
}

// Warning says that a bounce or complaint rate is too high, or that too few messages were
// sent to judge the rates.
type Warning struct {
	Code WarningCode `json:"code" jsonschema:"enum=bounce_review,enum=bounce_pause,enum=complaint_review,enum=complaint_pause,enum=low_volume"`
	Text string      `json:"text" voice:"ours"`
}

// Notable is a channel or template whose volume, bounces or complaints changed compared
// with the preceding window.
type Notable struct {
	Kind string `json:"kind" jsonschema:"enum=channel,enum=template"`
	Name string `json:"name" voice:"untrusted"`
	Text string `json:"text" voice:"ours"`
}

// maxTrend is the maximum number of points in a trend.
const maxTrend = 31

func (r *Reports) sendingHealth() core.Operation {
	return core.Declare(core.Op[HealthIn, Health]{
		Name:  "reports_get_sending_health",
		Title: "Get sending health",
		Purpose: "Summarizes the sent mail of a window. Use it to judge deliverability. " +
			"Returns totals, rates, a trend, warnings, and what changed since the window before. It does not name recipients.",
		Example: `{"group_by": "week"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ReportsView},
		Fails:   []core.Code{core.CodeNotFound, core.CodePlanRetentionExceeded},
		Do:      r.getSendingHealth,
	})
}

func (r *Reports) getSendingHealth(ctx context.Context, c *core.Call, in HealthIn) (Health, error) {
	org := c.Principal.Org
	w, err := core.WindowOf(in.From, in.To, c.Now, org.RetentionDays)
	if err != nil {
		return Health{}, err
	}
	f := Filter{Window: w, Identity: domainOf(in.Identity)}
	if in.Channel != "" {
		if f.Channel, err = r.channelOf(ctx, org.ID, in.Channel); err != nil {
			return Health{}, err
		}
	}
	found, err := r.read(ctx, org.ID, f, c.Now, wantedFigures{days: true, groups: true})
	if err != nil {
		return Health{}, err
	}
	sum := total(found.days)
	h := Health{
		From: w.From, To: w.To, Totals: sum, Rates: ratesOf(sum), Warning: warningsOf(sum), Notable: []Notable{},
	}
	h.GroupBy, h.Trend = trendOf(found.days, in.GroupBy)
	return h, r.compare(ctx, c, f, found, &h)
}

func (r *Reports) channelOf(ctx context.Context, orgID, reference string) (string, error) {
	name, err := r.Channels.ChannelNameOf(ctx, orgID, reference)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return "", core.NotFound("channel").WithNext("Leave `channel` out for the figures of all channels.")
	}
	return name, err
}

// compare sets the members of h that describe the change since the preceding window of the
// same length. If that window is older than the plan's retention, compare only sets
// h.Changed to a text that says so.
func (r *Reports) compare(ctx context.Context, c *core.Call, f Filter, now figures, h *Health) error {
	length := f.To.Sub(f.From)
	f.Window = core.Window{From: f.From.Add(-length), To: f.From}
	if f.From.Before(c.Now.AddDate(0, 0, -c.Principal.Org.RetentionDays).Add(-time.Minute)) {
		h.Changed = "Not compared: the previous window starts before the plan's retention. Request a shorter window to compare."
		return nil
	}
	before, err := r.read(ctx, c.Principal.Org.ID, f, c.Now, wantedFigures{groups: true})
	if err != nil {
		return err
	}
	then := total(before.groups)
	h.Before = &ComparedRates{
		Sent: then.Sent, Bounce: roundRate(then.bounceRate()), Complaint: roundRate(then.complaintRate()), Open: roundRate(then.openRate()),
	}
	h.Changed = changeOf(h.Totals, then)
	channels, err := r.channelMovers(ctx, c.Principal.Org.ID, now, before)
	if err != nil {
		return err
	}
	h.Notable = append(h.Notable, channels...)
	h.Notable = append(h.Notable, movers("template", sumByTemplate(now.groups), sumByTemplate(before.groups))...)
	return nil
}

// channelMovers returns the channels whose counts changed most. It names each channel by
// its slug, which a caller can use as a filter. For a deleted channel, which has no slug,
// it uses the provider's name.
func (r *Reports) channelMovers(ctx context.Context, orgID string, now, before figures) ([]Notable, error) {
	notable := movers("channel", sumByChannel(now.groups), sumByChannel(before.groups))
	for i, n := range notable {
		slug, err := r.Channels.ChannelSlug(ctx, orgID, n.Name)
		switch {
		case err == nil:
			notable[i].Name = slug
		case core.AsError(err).Code != core.CodeNotFound:
			return nil, err
		}
	}
	return notable, nil
}

// trendOf returns the latest points of the window, at most maxTrend, one for each period of
// length p. If there are more points, it uses a longer period instead. It also returns the
// period that it used.
func trendOf(days map[time.Time]Counts, p Period) (Period, []TrendPoint) {
	if p == "" {
		p = Day
	}
	points := series(days, p)
	for _, longer := range []Period{Week, Month} {
		if len(points) > maxTrend && p != Month {
			p = longer
			points = series(days, p)
		}
	}
	points = points[max(0, len(points)-maxTrend):]
	trend := make([]TrendPoint, len(points))
	for i, d := range points {
		trend[i] = TrendPoint{d.Day, d.Sent, d.Delivered, d.Bounced, d.Complained, d.UniqueOpens}
	}
	return p, trend
}

func ratesOf(c Counts) Rates {
	exact := c.rates()
	return Rates{
		Delivery: roundRate(exact.Delivery), Bounce: roundRate(exact.Bounce), Complaint: roundRate(exact.Complaint),
		Open: roundRate(exact.Open), Click: roundRate(exact.Click),
	}
}

// roundRate rounds a rate to a thousandth of a per cent, which is finer than any threshold
// of a warning.
func roundRate(rate float64) float64 { return math.Round(rate*1e5) / 1e5 }

func percent(rate float64) string { return fmt.Sprintf("%.2f %%", 100*rate) }
