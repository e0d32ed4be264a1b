package home

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// week is the number of days that the overview compares with as many days before. The last
// of them is today, in UTC, everywhere on the overview. Every plan keeps these days.
const week = 7

// mail is the data of the mail of the last seven days: today and the six days before. Problem
// says why it cannot be read, or "".
type mail struct {
	Problem string
	Figures []compared
	Chart   chart.Panel
	// Empty is true if nothing was sent.
	Empty  bool
	Health string

	lately reports.Counts
}

// compared is a number of the last seven days and its change, in words.
type compared struct{ Number, Name, Change, Path string }

// readMail reads the mail of the last seven days and of the seven before. It returns nil if
// the visitor may not view reports.
func (h *Home) readMail(r *http.Request, v people.Visitor) *mail {
	if !v.Member.Has(members.MayViewAnalytics) {
		return nil
	}
	m := &mail{Health: frame.Path + "/health"}
	o, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) (reports.Overview, error) {
		return h.Reports.Overview(ctx, v.Org.ID, 2*week, false)
	})
	if err != nil {
		m.Problem = h.problemOf(r, v, "mail", err)
		return m
	}
	before := sumOf(o.Days[:week])
	m.lately = sumOf(o.Days[week:])
	if m.Empty = o.Totals == (reports.Counts{}); m.Empty {
		return m
	}
	m.Figures = compare(m.lately, before)
	m.Chart = mailChart(o)
	return m
}

// sumOf returns the sum of the counts of these days.
func sumOf(days []reports.DayCounts) reports.Counts {
	var sum reports.Counts
	for _, d := range days {
		sum.Sent, sum.Delivered, sum.Bounced, sum.Complained = sum.Sent+d.Sent, sum.Delivered+d.Delivered, sum.Bounced+d.Bounced, sum.Complained+d.Complained
		sum.UniqueOpens, sum.UniqueClicks = sum.UniqueOpens+d.UniqueOpens, sum.UniqueClicks+d.UniqueClicks
	}
	return sum
}

// compare returns the figures of the last seven days with the change since the seven days
// before.
func compare(now, before reports.Counts) []compared {
	var figures []compared
	for _, f := range []struct {
		name, status string
		now, before  int64
	}{
		{"sent", "", now.Sent, before.Sent},
		{"delivered", "delivery", now.Delivered, before.Delivered},
		{"bounced", "bounce", now.Bounced, before.Bounced},
		{"complained", "complaint", now.Complained, before.Complained},
		{"opened", "open", now.UniqueOpens, before.UniqueOpens},
		{"clicked", "click", now.UniqueClicks, before.UniqueClicks},
	} {
		shown := compared{Number: core.WithCommas(f.now), Name: f.name, Change: changeOf(f.now, f.before), Path: frame.Path + "/messages"}
		if f.status != "" {
			shown.Path += "?status=" + f.status
		}
		figures = append(figures, shown)
	}
	return figures
}

// changeOf returns the change of a number in words.
func changeOf(now, before int64) string {
	switch {
	case now == before:
		return "as many as before"
	case before == 0:
		return "none before"
	}
	percent := math.Round(100 * (float64(now)/float64(before) - 1))
	switch {
	case percent > 999:
		return "over ten times as many as before"
	case percent > 0:
		return frame.ShortPercentage(percent/100) + " more than before"
	case percent < 0:
		return frame.ShortPercentage(-percent/100) + " fewer than before"
	}
	return "about as many as before"
}

// mailChart returns the chart of the messages of the days of the overview.
func mailChart(o reports.Overview) chart.Panel {
	plan := chart.Plan{
		ID: "mail", Title: "Messages by day", Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count,
		Summary: core.WithCommas(o.Totals.Sent) + " messages in the last " + strconv.Itoa(len(o.Days)) + " days.",
		Series: []chart.Series{
			{Name: "Delivered", Color: chart.Delivered}, {Name: "Bounced", Color: chart.Bounced}, {Name: "Rejected", Color: chart.Suppressed},
		},
	}
	for _, d := range o.Days {
		plan.Days = append(plan.Days, d.Day)
		for i, n := range []int64{d.Delivered, d.Bounced, d.Suppressed} {
			plan.Series[i].Values = append(plan.Series[i].Values, float64(n))
		}
	}
	return plan.Panel()
}

// rateNotices returns a notice for each rate of the last seven days that is near its
// threshold or above it.
func (m *mail) rateNotices() []notice {
	if m == nil {
		return nil
	}
	var notices []notice
	for _, r := range []struct {
		name   string
		level  reports.Level
		part   int64
		review float64
	}{
		{"bounce", m.lately.BounceLevel(), m.lately.Bounced, reports.BounceReviewRate},
		{"complaint", m.lately.ComplaintLevel(), m.lately.Complained, reports.ComplaintReviewRate},
	} {
		if r.level == reports.Unremarkable {
			continue
		}
		where := "near the"
		if r.level == reports.AtReview {
			where = "above the"
		}
		rate := frame.ShortPercentage(reports.Share(r.part, m.lately.Sent))
		notices = append(notices, notice{
			Text: fmt.Sprintf("The %s rate of the last seven days is %s, %s %s from which on the provider reviews an account.", r.name, rate, where, frame.ShortPercentage(r.review)),
			Path: m.Health, Verb: "Open sending health", Urgent: r.level == reports.AtReview,
		})
	}
	return notices
}
