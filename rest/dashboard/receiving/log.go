package receiving

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// message is an entry of the log, as operations return it.
type message struct {
	ID         string            `json:"id"`
	MessageID  string            `json:"message_id"`
	Domain     string            `json:"domain"`
	Sender     string            `json:"sender"`
	Recipients []string          `json:"recipients"`
	Subject    string            `json:"subject"`
	Verdicts   map[string]string `json:"verdicts"`
	Outcome    string            `json:"outcome"`
	Test       bool              `json:"test"`
	ReceivedAt time.Time         `json:"received_at"`
	Size       int64             `json:"size"`
	States     []struct {
		State      string    `json:"state"`
		OccurredAt time.Time `json:"occurred_at"`
		Detail     string    `json:"detail"`
		HTTPStatus *int      `json:"http_status"`
	} `json:"states"`
}

// messageRow is a message in the log.
type messageRow struct {
	Path, Subject      string
	Sender, Recipients frame.Wrapped
	Outcome            mark
	Test               bool
	Received           frame.When
}

// newMessageRow returns the row of a message. Its texts are those of outsiders.
func (h *Receiving) newMessageRow(m message) messageRow {
	row := messageRow{
		Path: LogPath + "/" + m.ID, Subject: frame.PlainName(m.Subject), Sender: frame.Wrapped(frame.PlainName(m.Sender)), Recipients: frame.Wrapped(frame.PlainName(strings.Join(m.Recipients, ", "))),
		Outcome: markOfOutcome(m.Outcome), Test: m.Test, Received: h.When(m.ReceivedAt),
	}
	if row.Subject == "" {
		row.Subject = "(no subject)"
	}
	if row.Sender == "" {
		row.Sender = "(null sender)"
	}
	return row
}

// logPage is the data of the log.
type logPage struct {
	Rows                      []messageRow
	Domain, Recipient, Sender string
	Since, Until              string // days, both inclusive
	Outcomes                  []frame.Option
	Empty                     frame.Empty
	Pager                     frame.Pager
}

// logFilters are the query parameters of the log that are arguments of the operation.
var logFilters = []string{"domain", "recipient", "sender", "outcome"}

// logLabels has the words that name the filters in the text about a refused one.
var logLabels = frame.Labels{
	"from": "The first day", "to": "The last day", "domain": "The domain", "recipient": "The recipient", "sender": "The sender", "outcome": "The outcome",
}

// The query parameters of the first and the last day. The names of the operation's arguments
// are not free: a pager uses one of them.
const (
	paramSince = "since"
	paramUntil = "until"
)

// logArguments returns the arguments for the log and the filters of a request without spaces
// around them. It fails with validation_failed for a text that is not a day.
func logArguments(asked url.Values) (arguments map[string]any, kept url.Values, err error) {
	kept = url.Values{}
	for _, name := range append([]string{paramSince, paramUntil}, logFilters...) {
		if value := strings.TrimSpace(asked.Get(name)); value != "" {
			kept.Set(name, value)
		}
	}
	from, to, err := frame.DayRange(kept.Get(paramSince), kept.Get(paramUntil))
	all := map[string]any{"limit": frame.PageSize, "from": from, "to": to, frame.ParamCursor: asked.Get(frame.ParamCursor)}
	for _, name := range logFilters {
		all[name] = kept.Get(name)
	}
	return frame.SetArguments(all), kept, err
}

// showLog shows the log of received mail.
func (h *Receiving) showLog(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	asked := r.URL.Query()
	arguments, kept, err := logArguments(asked)
	var page frame.List[message]
	if err == nil {
		err = h.Read(r, v, "inbound_messages_list", arguments, &page)
	}
	problem, status := logLabels.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	data := logPage{
		Domain: kept.Get("domain"), Recipient: kept.Get("recipient"), Sender: kept.Get("sender"), Since: kept.Get(paramSince), Until: kept.Get(paramUntil), Outcomes: outcomeOptions(kept.Get("outcome")),
		Empty: frame.Empty{Text: "No mail came to your receiving domains in the last 30 days."}, Pager: frame.PagerOf(LogPath, asked, len(page.Data), page.Next(), -1),
	}
	if len(kept) > 0 {
		data.Empty.Text = "No received message matches these filters."
	}
	for _, m := range page.Data {
		data.Rows = append(data.Rows, h.newMessageRow(m))
	}
	h.Show(w, r, v, status, frame.Screen{Page: "log", Title: "Received mail", Problem: problem, Notice: notices.NoticeOf(r), Data: data, Head: frame.Head{
		Lead: "Envelopes of the mail that came to your receiving domains, for 30 days.",
	}})
}

// outcomeOptions returns the options of the outcome filter.
func outcomeOptions(chosen string) []frame.Option {
	options := []frame.Option{{Name: "Any"}}
	for _, outcome := range []string{"received", "delivered", "retrying", "delivery_failed", "no_route", "dropped", "unknown_domain"} {
		options = append(options, frame.Option{Value: outcome, Name: markOfOutcome(outcome).Name})
	}
	return frame.ChooseOption(options, chosen)
}

// stateRow is a state that a message passed.
type stateRow struct {
	State  mark
	At     frame.When
	Detail string
	Status string
}

// messagePage is the data of the page of a message.
type messagePage struct {
	Message  messageRow
	ID       string
	Domain   frame.Wrapped
	Size     string
	Verdicts []frame.Verdict
	States   []stateRow
	Resend   *frame.Form // nil if the message cannot be sent again by this visitor
	// WithoutWebhook is the path of the domain of a message that cannot be sent again before the
	// domain has a webhook, "" for other messages.
	WithoutWebhook string
}

// messageOf reads the message whose id is in the path. If it returns false, it has written the
// response.
func (h *Receiving) messageOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (message, bool) {
	var m message
	id := r.PathValue("message")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return m, false
	}
	if err := h.Read(r, v, "inbound_messages_get", map[string]any{"message_id": id}, &m); err != nil {
		h.Fail(w, r, v, err)
		return m, false
	}
	return m, true
}

// showMessage shows a message with the states that it passed.
func (h *Receiving) showMessage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	m, ok := h.messageOf(w, r, v)
	if !ok {
		return
	}
	data := messagePage{Message: h.newMessageRow(m), ID: m.ID, Domain: frame.Wrapped(m.Domain), Size: core.WithCommas(m.Size) + " bytes", Verdicts: frame.VerdictsOf(m.Verdicts)}
	for _, s := range m.States {
		row := stateRow{State: markOfOutcome(s.State), At: h.When(s.OccurredAt), Detail: frame.PlainName(s.Detail)}
		if s.HTTPStatus != nil {
			row.Status = strconv.Itoa(*s.HTTPStatus)
		}
		data.States = append(data.States, row)
	}
	sendable := m.Outcome != "no_route" && m.Outcome != "dropped"
	if sendable && v.Member.Has(members.MayManageInbound) {
		if err := h.offerResend(r, v, m, &data); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "message", Title: data.Message.Subject, Notice: notices.NoticeOf(r), Data: data})
}

// offerResend adds the form that sends a message again, if its domain has a webhook.
func (h *Receiving) offerResend(r *http.Request, v people.Visitor, m message, data *messagePage) error {
	var all core.Collection[domain]
	if err := h.Read(r, v, "inbound_domains_list", nil, &all); err != nil {
		return err
	}
	for _, d := range all.Data {
		switch {
		case d.Domain != m.Domain:
		case d.Webhook == nil:
			data.WithoutWebhook = d.path()
		default:
			form := frame.FormTo(v, LogPath+"/"+m.ID+"/resend")
			data.Resend = &form
		}
	}
	return nil
}

// resend sends a message again.
func (h *Receiving) resend(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	m, ok := h.messageOf(w, r, v)
	if !ok {
		return
	}
	if err := h.permitted(v).Resend(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, m.ID); err != nil {
		h.refuseOrFail(w, r, v, "The message was not sent again", err)
		return
	}
	frame.RedirectWithNotice(w, LogPath+"/"+m.ID, "resent")
}
