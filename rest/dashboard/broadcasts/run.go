package broadcasts

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// runPage is the data of the page of a broadcast that sends or has ended.
type runPage struct {
	facts
	// Running is true while it sends. The page then reads itself again.
	Running bool
	Reload  string // the path of the page
	// Counted is true if the send has begun. The counts below it are of recipients.
	Counted        bool
	Total, Settled string
	Percent        int
	Tiers          []tier
	Started, Ended frame.When
	// Duration and Speed are "" if they are not known. Left is the time that the rest takes at
	// this speed.
	Duration, Speed, Left string
	Pause, Resume         *hidden
	// RateForm changes the rate, nil if the visitor may not. RatePerMinute is its field.
	RateForm      *frame.Form
	RatePerMinute string
	Delete        string // the path of the page that deletes, "" if that is not possible
	// Message is the page with the rendered message of one recipient, "" for none.
	Message string
	Results results
}

// tier is a number of recipients with what happened to them. X and Width are its part of the
// bar, in thousandths of the recipients.
type tier struct {
	Name, Words, Number, Share string
	Class                      string
	X, Width                   int
	// Path is the list of these recipients, "" if it has none.
	Path string
}

// showRun shows how a send goes, or how it went.
func (h *Room) showRun(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, about facts, problem string, status int) {
	data := runPage{facts: about, Running: b.State == broadcasts.Sending, Reload: path(b, "")}
	if b.AudienceSize != nil {
		if err := h.addCounts(r, v, b, &data); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	data.Pause, data.Resume = pauseForms(v, b)
	if about.MayManage && data.Running {
		form := frame.FormTo(v, path(b, "/rate"))
		data.RateForm, data.RatePerMinute = &form, numberText(b.Rate)
	}
	if about.MayManage && !data.Running {
		data.Delete = path(b, "/delete")
	}
	var actions []frame.Action
	if data.Delete != "" {
		actions = []frame.Action{{Path: data.Delete, Name: "Delete", Danger: true}}
	}
	frame.AllowMailFrames(w)
	head := frame.Head{Title: data.Name, Actions: actions}
	h.Show(w, r, v, status, frame.Screen{Page: "run", Title: data.Name, Head: head, Notice: notices.NoticeOf(r), Problem: problem, Data: data})
}

// addCounts adds the numbers of recipients, the times, and the results.
func (h *Room) addCounts(r *http.Request, v people.Visitor, b broadcasts.Broadcast, data *runPage) error {
	settled := b.Sent + b.Failed + b.Filtered
	data.Counted, data.Total, data.Settled, data.Percent = true, count(*b.AudienceSize), count(settled), percent(settled, *b.AudienceSize)
	byTier := map[handover.Tier]int{}
	if b.State.IsOver() && b.Filtered > 0 { // the tiers of a running send would be counted again at each look
		var err error
		if byTier, err = h.Outcomes.Tiers(r.Context(), v.Org.ID, b.ID); err != nil {
			return err
		}
	}
	data.Tiers = tiersOf(b, byTier)
	h.addTimes(b, settled, data)
	if *b.AudienceSize > 0 {
		data.Message = path(b, "/preview")
	}
	var err error
	data.Results, err = h.resultsOf(r, v, b)
	return err
}

// tiersOf returns the numbers of recipients by what happened to them. byTier has the numbers
// of filtered recipients, if they are known.
func tiersOf(b broadcasts.Broadcast, byTier map[handover.Tier]int) []tier {
	size := *b.AudienceSize
	list := func(result handover.State) string { return path(b, "?result="+string(result)+"#results") }
	all := []tier{
		{Name: "Sent", Words: "The sending account accepted the message.", Class: "of-delivered", Path: list(handover.Sent)},
		{Name: "Failed", Words: "The account refused the message, or its answer is unknown.", Class: "of-bounced", Path: list(handover.Failed)},
	}
	numbers := []int{b.Sent, b.Failed}
	if byTier[handover.ByAccount]+byTier[handover.ByTopic] == b.Filtered && b.Filtered > 0 {
		all = append(all,
			tier{Name: "Filtered by the account", Words: "The address is suppressed, or the contact opted out of all mail.", Class: "of-suppressed", Path: list(handover.Filtered)},
			tier{Name: "Filtered by the topic", Words: "The contact opted out of the topic.", Class: "of-complained", Path: list(handover.Filtered)})
		numbers = append(numbers, byTier[handover.ByAccount], byTier[handover.ByTopic])
	} else {
		all = append(all, tier{Name: "Filtered", Words: "The contact is suppressed or opted out.", Class: "of-suppressed", Path: list(handover.Filtered)})
		numbers = append(numbers, b.Filtered)
	}
	if b.State == broadcasts.Sending {
		all = append(all, tier{Name: "Waiting", Words: "The message is still to be sent.", Class: "of-waiting"})
		numbers = append(numbers, max(0, size-b.Sent-b.Failed-b.Filtered))
	}
	const thousandths = 1000
	before := 0
	for i, n := range numbers {
		all[i].Number = count(n)
		if size > 0 {
			all[i].X, all[i].Width = thousandths*before/size, thousandths*n/size
			all[i].Share = frame.ShortPercentage(float64(n) / float64(size))
		}
		if n == 0 {
			all[i].Path = ""
		}
		before += n
	}
	return all
}

// addTimes adds the duration and the speed. The speed is that of the messages that were
// passed to the account.
func (h *Room) addTimes(b broadcasts.Broadcast, settled int, data *runPage) {
	if b.StartedAt == nil {
		return
	}
	data.Started = h.When(*b.StartedAt)
	until := h.Clock()
	if b.CompletedAt != nil {
		data.Ended, until = h.When(*b.CompletedAt), *b.CompletedAt
	}
	took := until.Sub(*b.StartedAt)
	data.Duration = durationWords(took)
	passed := b.Sent + b.Failed
	if passed == 0 || took < time.Second {
		return
	}
	data.Speed = perSecond(passed, took.Seconds())
	if left := *b.AudienceSize - settled; data.Running && left > 0 && b.Paused == nil {
		data.Left = durationWords(time.Duration(float64(took) * float64(left) / float64(settled)))
	}
}

// durationWords returns a duration in words, such as "2 min 5 s".
func durationWords(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min " + strconv.Itoa(int(d.Seconds())%60) + " s"
	}
	return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
}
