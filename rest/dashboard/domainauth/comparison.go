package domainauth

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// comparisonWindows are the numbers of days of a side that the page offers.
var comparisonWindows = []int{7, 14, 30}

// sideRow is a line of the comparison. Difference is "" if the sides must not be compared.
type sideRow struct{ Name, Before, After, Difference string }

// groupRow has the failing messages of sources of one kind and decision.
type groupRow struct {
	Kind, Decision mark
	Before, After  string
}

// comparisonPage is the data of the page that compares the figures before and after an event.
type comparisonPage struct {
	domainHead
	Event      eventRow
	Periods    frame.Periods
	Days       int
	BeforeDays string
	AfterDays  string
	Rows       []sideRow
	Compared   bool
	Verdict    verdict
	Groups     []groupRow
	Cut        []string
	Neighbours []eventRow
}

// showComparison compares the figures before and after an event.
func (h timelinePages) showComparison(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	days := comparison.DefaultWindowDays
	if asked := r.URL.Query().Get("days"); asked != "" {
		days, _ = strconv.Atoi(asked)
		if days < comparison.MinWindowDays || days > comparison.MaxWindowDays {
			h.Refuse(w, r, v, http.StatusUnprocessableEntity, "This number of days is not supported", "Choose one of the numbers on the page of the comparison.")
			return
		}
	}
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	arguments := named(r)
	arguments["annotation_id"], arguments["window_days"] = r.PathValue("event"), days
	var c domainauth.Comparison
	if err := h.Read(r, v, "domain_auth_comparison_get", arguments, &c); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := comparisonPage{
		domainHead: newDomainHead(p.Posture, tabTimeline), Days: days, Verdict: comparisonVerdict(c), Compared: c.Delta != nil,
		BeforeDays: daysOfSide(c.Before), AfterDays: daysOfSide(c.After), Rows: sideRows(c), Groups: groupRows(c),
	}
	event, err := h.eventOf(r, v, p.Domain)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Event = h.newEventRow(data.Path, event)
	data.Periods = frame.PeriodsOf("Days of each side", comparisonWindows, days, comparison.MaxWindowDays, func(days int) string {
		return eventPath(data.Path+tabTimeline, event) + "?days=" + strconv.Itoa(days)
	})
	for _, t := range c.Truncations {
		data.Cut = append(data.Cut, cutText(t))
	}
	for _, n := range c.Neighbours {
		data.Neighbours = append(data.Neighbours, h.newEventRow(data.Path, n))
	}
	h.show(w, r, v, http.StatusOK, p.Domain, frame.Screen{Page: "comparison", Title: "Before and after", Data: data, Head: frame.Head{
		Lead:    "The reported mail before an event and after it. The comparison states no cause.",
		Parents: []frame.Link{{Path: data.Path + tabTimeline, Name: "Timeline"}},
	}})
}

// eventOf reads the event of the request's path.
func (h timelinePages) eventOf(r *http.Request, v people.Visitor, domain string) (domainauth.Event, error) {
	d, err := h.Store.Domain(r.Context(), v.Org.ID, domain)
	if err != nil {
		return domainauth.Event{}, err
	}
	return h.Store.Event(r.Context(), v.Org.ID, d.ID, r.PathValue("event"))
}

// comparisonVerdict says what the comparison shows, or why it has no difference.
func comparisonVerdict(c domainauth.Comparison) verdict {
	if c.Delta != nil {
		rate, failing := c.Delta.PassRate, c.Delta.FailingPerDay
		switch {
		case math.Abs(rate) < 0.0005:
			return verdict{"delivered", "The pass rate is about the same", "Failing messages a day: " + signed(failing) + "."}
		case rate > 0:
			return verdict{"delivered", "More mail passes: " + points(rate), "Failing messages a day: " + signed(failing) + "."}
		default:
			return verdict{"bounced", "Less mail passes: " + points(rate), "Failing messages a day: " + signed(failing) + "."}
		}
	}
	v := verdict{Class: "delayed", Heading: "No difference is stated"}
	reason := ""
	if c.NoDeltaReason != nil {
		reason = *c.NoDeltaReason
	}
	v.Text = map[string]string{
		string(comparison.AttributionDeclined): "Another change happened in the same time, so a difference could be of either. Choose fewer days, or compare around the other change.",
		string(comparison.AfterIncomplete):     "The days after the event are not over. Look here again in a few days, or choose fewer days.",
		string(comparison.InsufficientVolume):  "A side has fewer than " + strconv.Itoa(comparison.MinMessages) + " messages, and a difference of so few says little. Choose more days.",
	}[reason]
	return v
}

// daysOfSide says which days a side has, and how many of them are counted.
func daysOfSide(s domainauth.Side) string {
	return s.From.Format("2 Jan 2006") + " to " + s.To.AddDate(0, 0, -1).Format("2 Jan 2006") + ", " + frame.Quantity(int64(s.Days), "day counted", "days counted")
}

// sideRows returns the figures of both sides.
func sideRows(c domainauth.Comparison) []sideRow {
	rows := []sideRow{
		{Name: "Passed", Before: percentage(c.Before.PassRate), After: percentage(c.After.PassRate)},
		{Name: "Messages", Before: core.WithCommas(c.Before.Total), After: core.WithCommas(c.After.Total)},
		{Name: "Messages a day", Before: perDay(c.Before.Total, c.Before.Days), After: perDay(c.After.Total, c.After.Days)},
		{Name: "Failing", Before: core.WithCommas(c.Before.Failing), After: core.WithCommas(c.After.Failing)},
		{Name: "Failing a day", Before: perDay(c.Before.Failing, c.Before.Days), After: perDay(c.After.Failing, c.After.Days)},
	}
	if c.Delta != nil {
		rows[0].Difference, rows[2].Difference, rows[4].Difference = points(c.Delta.PassRate), signed(c.Delta.MessagesPerDay), signed(c.Delta.FailingPerDay)
	}
	return rows
}

// perDay returns the messages of a day.
func perDay(messages int64, days int) string {
	if days == 0 {
		return "–"
	}
	return oneDecimal(float64(messages) / float64(days))
}

// oneDecimal formats a number of messages a day.
func oneDecimal(v float64) string { return frame.Count(math.Round(v*10) / 10) }

// signed formats a difference with its sign.
func signed(v float64) string {
	v = math.Round(v*10) / 10
	switch {
	case v > 0:
		return "+" + frame.Count(v)
	case v < 0:
		return "−" + frame.Count(-v)
	default:
		return "0"
	}
}

// points formats a difference of two rates in percentage points.
func points(v float64) string {
	text := signed(100 * v)
	if text == "0" {
		return text
	}
	return text + "\u00a0points"
}

// groupRows returns the failing messages of both sides by kind and decision of the sources.
func groupRows(c domainauth.Comparison) []groupRow {
	type key struct {
		kind     figures.Classification
		decision figures.Decision
	}
	var order []key
	failing := map[key][2]string{}
	for side, groups := range [][]domainauth.Group{c.Before.Groups, c.After.Groups} {
		for _, g := range groups {
			k := key{g.Classification, g.Decision}
			texts, known := failing[k]
			if !known {
				order, texts = append(order, k), [2]string{"–", "–"}
			}
			texts[side] = core.WithCommas(g.Failing) + " of " + core.WithCommas(g.Total)
			failing[k] = texts
		}
	}
	rows := make([]groupRow, len(order))
	for i, k := range order {
		rows[i] = groupRow{Kind: kindOf(k.kind).Mark, Decision: markOfDecision(k.decision), Before: failing[k][0], After: failing[k][1]}
	}
	return rows
}

// cutText says which days are not counted, and why.
func cutText(t domainauth.Truncation) string {
	days := t.From.Format("2 January 2006")
	if t.Days > 1 {
		days += " to " + t.To.Add(-time.Hour).Format("2 January 2006")
	}
	why := map[comparison.Reason]string{
		comparison.Present: "not over, or just over: their reports still come", comparison.Retention: "too long ago: their figures are deleted",
		comparison.EarlierChange: "too close to an earlier change", comparison.NoReports: "no report covers them",
	}[t.Reason]
	return days + ": " + why
}
