package messages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// record is a message as the operations return it.
type record struct {
	ID          string `json:"id"`
	From        string `json:"from"`
	To          string `json:"to"`
	SentAt      string `json:"sent_at"`
	Status      string `json:"status"`
	Channel     string `json:"channel"`
	LastEventAt string `json:"last_event_at"`
	Subject     string `json:"subject"`
	Template    string `json:"template"`
}

// recordPage is a page of messages as the operations return it.
type recordPage struct {
	Data       []record `json:"data"`
	Pagination struct {
		NextCursor string `json:"next_cursor"`
	} `json:"pagination"`
}

// row is the data of one message in a table.
type row struct {
	Path, Recipient, Subject, Template, Channel string
	Sent                                        frame.When
	Status                                      status
}

// listPage is the data of the page that searches messages.
type listPage struct {
	All      string
	Filter   filter
	Statuses []frame.Option
	// Channels has the options of the filter by channel. It is empty if the visitor may not
	// view channels.
	Channels []frame.Option
	// Masked is true if the visitor may not search recipients.
	Masked bool
	Narrow bool
	Rows   []row
	Pager  frame.Pager
	Empty  frame.Empty
}

// showMessages lists the messages that match the filters in the page's address, newest
// first. It shows an unusable filter as a problem above the form.
func (m *Messages) showMessages(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	f := filterOf(r, v)
	data := listPage{All: Path, Filter: f, Statuses: statusOptions(f.Status), Narrow: len(f.query()) > 0, Masked: !v.Member.Has(members.MaySearchRecipients)}
	channels := m.channels(r, v)
	for _, c := range channels {
		data.Channels = append(data.Channels, frame.Option{Value: c.Slug, Name: frame.PlainName(c.Slug)})
	}
	data.Channels = frame.ChooseOption(data.Channels, f.Channel)
	screen := frame.Screen{Page: "messages", Title: "Messages", Head: frame.Head{Title: "Messages", Lead: leadOf(f, v)}}
	arguments, problem := f.arguments(channels, oldestDay(m.Clock(), v.Org.RetentionDays))
	arguments.Cursor = r.URL.Query().Get(frame.ParamCursor)
	var page recordPage
	if problem == "" {
		var err error
		if problem, err = m.search(r, v, arguments, &page); err != nil {
			m.Fail(w, r, v, err)
			return
		}
	}
	m.fillList(&data, r, page)
	screen.Data, screen.Problem = data, problem
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	m.Show(w, r, v, status, screen)
}

// search calls messages_list. It returns the text of a refusal of the filters, or an error.
func (m *Messages) search(r *http.Request, v people.Visitor, arguments listArguments, page *recordPage) (string, error) {
	err := m.Read(r, v, "messages_list", arguments, page)
	if err == nil {
		return "", nil
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeValidationFailed, core.CodePlanRetentionExceeded:
		problem := frame.Labels{"recipient": "The recipient", "template": "The template", "identity": "The domain of the sender"}.Problem(e)
		if problem == "" {
			problem = e.Message
		}
		return problem + " " + e.NextStep(), nil
	}
	return "", err
}

// fillList adds the rows, the pager and the text for an empty list.
func (m *Messages) fillList(data *listPage, r *http.Request, page recordPage) {
	data.Rows = m.rowsOf(page.Data)
	data.Pager = frame.PagerOf(Path, pageQuery(data.Filter, r), len(page.Data), page.Pagination.NextCursor, -1)
	data.Empty = frame.Empty{Text: "No message matches these filters."}
	if !data.Narrow {
		data.Empty = frame.Empty{
			Text:  "No message was sent in this time. Messages appear here seconds after the sending account reports their first event.",
			Guide: m.Guide("/guides/sending-account", "Connect a sending account"),
		}
	}
}

// pageQuery returns the filters with the position in the list, for the pager.
func pageQuery(f filter, r *http.Request) url.Values {
	q := f.query()
	for _, name := range []string{frame.ParamCursor, frame.ParamFrom} {
		if value := r.URL.Query().Get(name); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// rowsOf returns the data of messages for a table.
func (m *Messages) rowsOf(records []record) []row {
	rows := make([]row, len(records))
	for i, r := range records {
		rows[i] = row{
			Path: pathOf(r.ID), Recipient: frame.PlainName(r.To), Subject: frame.PlainName(r.Subject), Template: frame.PlainName(r.Template),
			Channel: frame.PlainName(r.Channel), Sent: m.WhenText(r.SentAt), Status: statusOf(r.Status),
		}
	}
	return rows
}

// pathOf returns the path of the page of one message.
func pathOf(id string) string { return Path + "/" + url.PathEscape(id) }

// leadOf returns the sentence below the heading, which says how far back the list goes.
func leadOf(f filter, v people.Visitor) string {
	if f.From != "" || f.To != "" {
		return "Days are days in UTC, by the time of sending."
	}
	return "Messages of the last " + strconv.Itoa(min(30, v.Org.RetentionDays)) + " days, newest first. Choose days to see earlier ones."
}

// channels returns the channels of the organization, nil if the visitor may not view them
// or they cannot be read.
func (m *Messages) channels(r *http.Request, v people.Visitor) []channel {
	if !v.Member.Has(members.MayViewSending) {
		return nil
	}
	var page struct {
		Data []channel `json:"data"`
	}
	if err := m.Read(r, v, "channels_list", map[string]any{"limit": 200}, &page); err != nil {
		return nil
	}
	return page.Data
}
