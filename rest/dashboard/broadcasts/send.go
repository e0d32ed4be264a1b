package broadcasts

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fieldTime is the layout of times in form fields. They are in UTC.
const fieldTime = "2006-01-02T15:04"

// The values of the form field when: whether the broadcast is sent at once or at a time.
const (
	sendNow = "now"
	sendAt  = "at"
)

// sendPage is the data of the first step of a send.
type sendPage struct {
	Back  string
	Form  frame.Form
	At    string // the time in the form
	Later bool   // whether it is sent at this time
	Least string // the earliest time that the form accepts
	Reach reach
	// Warning says what a send without a topic means, "" with a topic. Acknowledged is true if
	// the person has ticked its box.
	Warning      string
	Acknowledged bool
}

// confirmPage is the data of the second step of a send: what it would do.
type confirmPage struct {
	Back         string
	Form         frame.Form
	Once         string
	Message      string
	Preview      sendPreview
	Token        string
	Until        string // when the confirmation expires
	When, At     string // fields of the first step
	Acknowledged bool
	Scheduled    frame.When
	Button       string
}

// sendPreview has what the operation says that a send would do.
type sendPreview struct {
	Audience     string     `json:"audience"`
	AudienceKind string     `json:"audience_kind"`
	Size         int        `json:"audience_size"`
	Mailable     int        `json:"mailable"`
	ByAccount    int        `json:"filtered_by_account"`
	ByTopic      int        `json:"filtered_by_topic"`
	Topic        *string    `json:"topic_id"`
	From         string     `json:"from"`
	Subject      string     `json:"subject"`
	ScheduledAt  *time.Time `json:"scheduled_at"`
	Blank        []struct {
		Variable string `json:"variable"`
		Members  int    `json:"recipients"`
	} `json:"blank"`
}

// showSend asks when to send.
func (h sendPages) showSend(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if b, ok := h.draft(w, r, v); ok {
		h.ask(w, r, v, b, sendPage{}, nil)
	}
}

// draft returns the draft that the request names. If it returns false, it has written an
// answer.
func (h sendPages) draft(w http.ResponseWriter, r *http.Request, v people.Visitor) (broadcasts.Broadcast, bool) {
	b, ok := h.read(w, r, v)
	if ok && b.State != broadcasts.Draft {
		h.Refuse(w, r, v, http.StatusConflict, "This broadcast is not a draft", "Its state is "+states[b.State].Name+" now. Open it to see what can be done with it.")
		return b, false
	}
	return b, ok
}

// ask writes the first step. refused is the error of the review, nil for none.
func (h sendPages) ask(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, data sendPage, refused error) {
	problem, status := "", http.StatusOK
	if refused != nil {
		e := core.AsError(refused)
		if problem, status = labels.Correctable(refused); e.Code == core.CodeNoTopicAcknowledgementNeeded {
			problem, status = "The broadcast has no topic. Tick the box to confirm that, or edit the broadcast and choose a topic.", e.HTTPStatus()
		}
		if problem == "" {
			h.Fail(w, r, v, refused)
			return
		}
	}
	var err error
	if data.Reach, err = h.reachOf(r, v, b.Target, b.Topic); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Back, data.Form, data.Least = path(b, ""), frame.FormTo(v, r.URL.Path), h.Clock().UTC().Format(fieldTime)
	if b.Topic == "" {
		data.Warning = broadcasts.NoTopicWarning
	}
	head := frame.Head{Title: "Send or schedule", Lead: "The next page says what will happen. Nothing is sent before you confirm it there.", Parents: parentsOf(b)}
	h.Show(w, r, v, status, frame.Screen{Page: "send", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// sendBroadcast answers both steps: it shows what the send would do, or sends. If something
// changed between the steps, it shows the new state and sends nothing.
func (h sendPages) sendBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.draft(w, r, v)
	if !ok {
		return
	}
	asked := sendPage{At: r.PostForm.Get("at"), Later: r.PostForm.Get("when") == sendAt, Acknowledged: r.PostForm.Get("acknowledge") != ""}
	arguments := map[string]any{"id": b.ID}
	if asked.Acknowledged {
		arguments["acknowledge_no_topic"] = true
	}
	if asked.Later {
		at, err := time.Parse(fieldTime, asked.At)
		if err != nil {
			h.ask(w, r, v, b, asked, core.Invalid("scheduled_at", "is not a date and a time of day"))
			return
		}
		arguments["scheduled_at"] = at.UTC()
	}
	token := r.PostForm.Get("confirmation")
	call := frame.OperationCall{Operation: "broadcasts_send", Arguments: arguments, Confirmation: token}
	if token != "" {
		if call.Once, ok = h.ReadOnceID(w, r, v); !ok {
			return
		}
	}
	var started struct {
		Status string `json:"status"`
	}
	review, err := h.Do(r, v, call, &started)
	problem := ""
	if err != nil && token != "" && core.AsError(err).Code == core.CodeConfirmationInvalid {
		problem = "Nothing was sent: something changed since the last page, or it expired. Read again what the send would do now."
		call.Confirmation, call.Once = "", ""
		review, err = h.Do(r, v, call, nil)
	}
	switch {
	case err != nil:
		h.ask(w, r, v, b, asked, err)
	case review != nil:
		h.confirm(w, r, v, b, asked, review, problem)
	default:
		frame.RedirectWithNotice(w, path(b, ""), noticeOfStatus(started.Status))
	}
}

// noticeOfStatus returns the name of the notice for the status of a send.
func noticeOfStatus(status string) string {
	if notices[status] == "" {
		return "waiting" // for an approval
	}
	return status
}

// confirm writes the second step.
func (h sendPages) confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, asked sendPage, review *guardrails.ConfirmationRequired, problem string) {
	data := confirmPage{
		Back: path(b, ""), Form: frame.FormTo(v, r.URL.Path), Once: core.NewID(), Message: frame.PlainName(review.Message), Token: review.Token,
		Until: review.ExpiresAt.UTC().Format(frame.MomentLayout), When: sendNow, At: asked.At, Acknowledged: asked.Acknowledged,
	}
	text, err := json.Marshal(review.Preview)
	if err == nil {
		err = json.Unmarshal(text, &data.Preview)
	}
	if err != nil {
		h.Fail(w, r, v, core.Internal(err))
		return
	}
	data.Preview.Audience, data.Preview.From, data.Preview.Subject = frame.PlainName(data.Preview.Audience), frame.PlainName(data.Preview.From), frame.PlainName(data.Preview.Subject)
	data.Button = "Send to " + frame.Quantity(int64(data.Preview.Mailable), "contact", "contacts") + " now"
	if asked.Later && data.Preview.ScheduledAt != nil {
		data.When, data.Scheduled, data.Button = sendAt, h.When(*data.Preview.ScheduledAt), "Schedule broadcast"
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	head := frame.Head{Title: "Confirm the send", Parents: parentsOf(b)}
	h.Show(w, r, v, status, frame.Screen{Page: "confirm", Title: head.Title, Head: head, Problem: problem, Data: data})
}
