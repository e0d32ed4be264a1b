package developers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// activityRow is the data of the calls of one tool by one client and person. The numbers
// are texts with commas, "" for 0.
type activityRow struct {
	Client, Person         string
	Activity               string // page with the calls of this client only
	Tool                   string // "" for requests that named no tool
	Calls, Refused, Failed string
	// Confirmed is how many of the effects that the tool asked to confirm were confirmed,
	// such as "1 of 2", or "" if it asked for none.
	Confirmed string
	Last      frame.When
}

// activityPage is the data of the page of calls.
type activityPage struct {
	Periods frame.Periods
	Rows    []activityRow
	// Client is the name of the only client whose calls are shown, "" for all clients. Access
	// has the grants of this client, to revoke them.
	Client string
	Access grantRows
	All    bool // whether the calls of all members are shown
	Days   int
	// Everyone is the page with the calls of all clients in the same days.
	Everyone string
	Pager    frame.Pager
	Empty    frame.Empty
}

// activityWindows are the numbers of days that the page can show.
var activityWindows = []int{7, usageDays, 90}

const (
	// maxClientID is the longest client id in bytes that the filter takes.
	maxClientID = 1000
	// maxActivityPage is the number of the last page of rows that can be opened.
	maxActivityPage = 1000
)

// activityRequest is what the page's address states. Page is counted from 1.
type activityRequest struct {
	Client     string
	Days, Page int
}

// activityRequestOf reads the request from the page's address. It returns false if no link
// of the dashboard leads to this address.
func activityRequestOf(q url.Values, retentionDays int) (activityRequest, bool) {
	a := activityRequest{Client: q.Get("client_id"), Days: min(usageDays, retentionDays), Page: 1}
	for name, number := range map[string]*int{"days": &a.Days, "page": &a.Page} {
		if text := q.Get(name); text != "" {
			*number, _ = strconv.Atoi(text) // 0 is refused below
		}
	}
	known := slices.Contains(activityWindows, a.Days) && a.Days <= retentionDays
	return a, known && len(a.Client) <= maxClientID && a.Page >= 1 && a.Page <= maxActivityPage
}

// path returns the address of the page with this request.
func (a activityRequest) path() string {
	q := url.Values{"days": {strconv.Itoa(a.Days)}}
	if a.Client != "" {
		q.Set("client_id", a.Client)
	}
	if a.Page > 1 {
		q.Set("page", strconv.Itoa(a.Page))
	}
	return ActivityPath + "?" + q.Encode()
}

// withPage returns the same request for another page.
func (a activityRequest) withPage(page int) activityRequest {
	a.Page = page
	return a
}

// showActivity shows the calls of assistants by tool. The page's address states the number
// of days and the client.
func (h connectHandlers) showActivity(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	a, ok := activityRequestOf(r.URL.Query(), v.Org.RetentionDays)
	if !ok {
		h.NoSuchPage(w, r, v)
		return
	}
	offset := (a.Page - 1) * frame.PageSize
	rows, err := h.usage(r, v, a.Days, usage.Filter{ClientID: a.Client, Limit: offset + frame.PageSize + 1})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	rows = rows[min(offset, len(rows)):] // the sums of all rows are needed for their order anyway
	data := activityPage{All: whose(v) == "", Days: a.Days, Everyone: activityRequest{"", a.Days, 1}.path(), Empty: frame.Empty{
		Text:   nothingCalled(whose(v) == ""),
		Action: &frame.Action{Path: ConnectPath, Name: "Connect an assistant"},
	}}
	data.Periods = frame.PeriodsOf("Window", activityWindows, a.Days, v.Org.RetentionDays, func(days int) string {
		return activityRequest{a.Client, days, 1}.path()
	})
	if len(rows) > frame.PageSize {
		rows, data.Pager.Next = rows[:frame.PageSize], a.withPage(a.Page+1).path()
	}
	if a.Page > 1 {
		data.Pager.First = a.withPage(1).path()
	}
	if len(rows) > 0 {
		data.Pager.Range = core.WithCommas(offset+1) + " to " + core.WithCommas(offset+len(rows))
	}
	if data.Rows, err = h.activityRows(r, v, a.Days, rows); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if a.Client != "" {
		if err := h.showClient(r, v, a.Client, &data); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "connect_activity", Title: "Activity of assistants", Data: data, Head: frame.Head{
		Lead:    "Calls at the agent endpoint by tool. The audit log has each change.",
		Actions: []frame.Action{{Path: GrantsPath, Name: "Manage access"}},
	}})
}

// showClient adds the name of the only client whose calls are shown, and its grants at the
// agent endpoint.
func (h connectHandlers) showClient(r *http.Request, v people.Visitor, clientID string, data *activityPage) error {
	var err error
	data.Access, err = grantHandlers(h).namesFor(v).newest(r.Context(), access.GrantFilter{UserID: whose(v), ClientID: clientID, AtAgent: true})
	switch {
	case err != nil:
		return err
	case len(data.Access.Rows) > 0:
		data.Client = data.Access.Rows[0].Client
	case len(data.Rows) > 0:
		data.Client = data.Rows[0].Client
	}
	return nil
}

// nothingCalled is the text of a page without calls, for a visitor who sees the calls of all
// members or only their own.
func nothingCalled(all bool) string {
	if all {
		return "No assistant has called a tool in this time."
	}
	return "None of your assistants has called a tool in this time."
}

// activityRows returns the data of rows of calls in the last days, with the names of clients
// and people.
func (h connectHandlers) activityRows(r *http.Request, v people.Visitor, days int, rows []usage.Row) ([]activityRow, error) {
	names := grantHandlers(h).namesFor(v)
	shown := make([]activityRow, 0, len(rows))
	for _, u := range rows {
		of, err := names.client(r.Context(), u.ClientID)
		if err != nil {
			return nil, err
		}
		row := activityRow{
			Client: frame.PlainName(of.Name), Activity: activityRequest{u.ClientID, days, 1}.path(), Tool: u.Operation, Calls: core.WithCommas(u.Calls),
			Confirmed: confirmedOf(u.Counts), Refused: number(u.Refused), Failed: number(u.Failed), Last: h.When(u.LastAt),
		}
		if u.UserID != "" {
			if row.Person, err = names.person(r.Context(), u.UserID); err != nil {
				return nil, err
			}
		}
		shown = append(shown, row)
	}
	return shown, nil
}

// confirmedOf returns how many of the asked confirmations were given, "" if none was asked
// or given.
func confirmedOf(c usage.Counts) string {
	if c.Asked == 0 && c.Confirmed == 0 {
		return ""
	}
	return core.WithCommas(c.Confirmed) + " of " + core.WithCommas(max(c.Asked, c.Confirmed))
}

// number returns a count as a text, "" for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return core.WithCommas(n)
}
