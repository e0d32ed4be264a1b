package messages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
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

// row is the data of one message in a table.
type row struct {
	Path, Recipient, Subject, Template, Channel string
	Sent                                        frame.When
	Status                                      mailstatus.Status
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
	data := listPage{All: Path, Filter: f, Statuses: statusOptions(f.Status), Narrow: len(f.parameters().Values()) > 0, Masked: !v.Member.Has(members.MaySearchRecipients)}
	channels := m.ReadableChannels(r, v)
	data.Channels = channels.Options(f.Channel)
	screen := frame.Screen{Page: "messages", Title: "Messages", Head: frame.Head{Title: "Messages", Lead: leadOf(f, v)}}
	page, err := m.search(r, v, f, channels)
	problem, status := filterLabels.FilterProblem(err)
	if err != nil && problem == "" {
		m.Fail(w, r, v, err)
		return
	}
	m.fillList(&data, r, page)
	screen.Data, screen.Problem = data, problem
	m.Show(w, r, v, status, screen)
}

// search reads the page of messages at the cursor in the address. It fails with
// validation_failed or plan_retention_exceeded for a filter that cannot be used.
func (m *Messages) search(r *http.Request, v people.Visitor, f filter, channels frame.Channels) (frame.List[record], error) {
	var page frame.List[record]
	arguments, err := f.arguments(channels, core.OldestDay(m.Clock(), v.Org.RetentionDays))
	if err != nil {
		return page, err
	}
	if cursor := r.URL.Query().Get(frame.ParamCursor); cursor != "" {
		arguments["cursor"] = cursor
	}
	err = m.Read(r, v, "messages_list", arguments, &page)
	return page, err
}

// fillList adds the rows, the pager and the text for an empty list.
func (m *Messages) fillList(data *listPage, r *http.Request, page frame.List[record]) {
	data.Rows = m.rowsOf(page.Data)
	data.Pager = frame.PagerOf(Path, pageQuery(data.Filter, r), len(page.Data), page.Next(), -1)
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
	q := f.parameters().Values()
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
			Channel: frame.PlainName(r.Channel), Sent: m.WhenText(r.SentAt), Status: mailstatus.Of(r.Status),
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
