package workflows

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// pastDays are the numbers of past days that a visitor can choose. The first is the default.
var pastDays = []int{90, 30}

// pastPage is the data of the page that says what would have happened.
type pastPage struct {
	about
	Path           string
	Days           int
	Periods        frame.Periods
	Version        int
	Versions       []frame.Option
	Problem        string // why there is no estimate, "" for none
	Known          bool
	Now            string // contacts that would enter at an activation
	Entered, Sent  string
	Sampled        bool
	Contacts       string
	EnteredChart   *chart.Panel
	SentChart      *chart.Panel
	Sends          []pastSend
	Exits          []exitRow
	TriggerInWords string
}

// pastSend is a send step with its average.
type pastSend struct{ Path, Template, PerDay, Total string }

// showPast shows what the workflow would have done in the past days.
func (h *Room) showPast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	top, err := h.aboutOf(r, v, found, tabPast)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := pastPage{about: top, Path: pathOf(found, tabPast), Days: pastDays[0]}
	for _, n := range pastDays {
		if r.URL.Query().Get("days") == strconv.Itoa(n) {
			data.Days = n
		}
	}
	if err := h.estimate(r, v, found, &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "past", Title: "Past of " + data.Name, Head: headOf(found, top), Data: data})
}

// estimate adds what would have happened, or the reason why it is not known.
func (h *Room) estimate(r *http.Request, v people.Visitor, w workflows.Workflow, data *pastPage) error {
	shown, err := h.shownVersion(r, v, w, w.Latest())
	if err != nil {
		return err
	}
	data.Version = shown.Number
	if data.Versions, err = h.versionOptions(r, v, w, shown.Number); err != nil {
		return err
	}
	data.Periods = frame.PeriodsOf("Days", []int{30, 90}, data.Days, pastDays[0], func(days int) string {
		return frame.Address(data.Path, frame.Parameters{"days": strconv.Itoa(days), paramVersion: strconv.Itoa(shown.Number)})
	})
	review, err := h.Editor.Review(r.Context(), v.Org.ID, shown.Source)
	if err != nil {
		return err
	}
	if review.HasFaults() {
		data.Problem = wording.Version(shown.Number) + " has faults, so it is not known what it would have done. Correct its source first."
		return nil
	}
	data.TriggerInWords = frame.PlainName(review.Checked.Explain().Settings[0])
	found, err := frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (workflows.Estimate, error) {
		return h.Editor.Estimates.Estimate(ctx, v.Org.ID, review.Checked, w.ID, data.Days, h.Clock())
	})
	if err != nil {
		return problemOf(err, &data.Problem)
	}
	data.add(found)
	return nil
}

// add adds the numbers of an estimate.
func (p *pastPage) add(found workflows.Estimate) {
	p.Known, p.Now, p.Sampled, p.Contacts = true, count(found.EnterNow), found.Sampled, count(found.Contacts)
	days, entered, sent := []time.Time{}, []float64{}, []float64{}
	for _, d := range found.Days {
		days, entered, sent = append(days, d.Day), append(entered, float64(d.Enrolled)), append(sent, float64(d.Sends))
	}
	p.Entered, p.Sent = count(int(wording.Sum(entered))), count(int(wording.Sum(sent)))
	for _, s := range found.Sends {
		total := int(s.PerDay*float64(p.Days) + 0.5) //nolint:mnd // rounds
		p.Sends = append(p.Sends, pastSend{s.Path, frame.PlainName(s.Template), wording.PerDay(s.PerDay), count(total)})
	}
	for _, e := range found.Exits {
		p.Exits = append(p.Exits, exitRow{frame.Quoted(e.Name), count(e.Count)})
	}
	if len(days) == 0 {
		return
	}
	about := ""
	if found.Sampled {
		about = "About "
	}
	panel := func(id, title, name, nouns string, numbers []float64) *chart.Panel {
		made := chart.Plan{
			ID: id, Title: title, Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count, Days: days,
			Series:  []chart.Series{{Name: name, Values: numbers}},
			Summary: about + count(int(wording.Sum(numbers))) + " " + nouns + " in " + strconv.Itoa(p.Days) + " days. Days are in UTC.",
		}.Panel()
		return &made
	}
	p.EnteredChart = panel("entered", "Contacts per day", "Entered", "contacts would have entered", entered)
	p.SentChart = panel("sent", "Messages per day", "Sent", "messages would have been sent", sent)
}
