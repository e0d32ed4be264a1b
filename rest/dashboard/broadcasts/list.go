package broadcasts

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// listPage is the data of the list of broadcasts.
type listPage struct {
	All, Query, State string
	Tag               string // the tag that the broadcasts have, "" for all
	Tabs              []tab
	Narrow            bool
	Rows              []row
	Pager             frame.Pager
	Empty             frame.Empty
}

// tab is a link to the broadcasts in one state. Current is true for the chosen state.
type tab struct {
	Path, Name, Count string
	Current           bool
}

// row is the data of one broadcast in the list.
type row struct {
	Path, Name, Subject string
	Audience            named
	State               state
	// Doing says what happened at the time When.
	Doing string
	When  frame.When
	// The counts are "" before the send begins. Percent is the progress of a send.
	Recipients, Sent, Failed, Filtered string
	Sending                            bool
	Percent                            int
}

// showBroadcasts lists the broadcasts that match the filters in the page's address.
func (h *Room) showBroadcasts(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	data := listPage{All: Path, Query: queryOf(query.Get("q")), State: query.Get("state"), Tag: query.Get("tag")}
	data.Narrow = data.Query != "" || data.State != "" || data.Tag != ""
	counts, err := h.Store.CountByState(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	data.Tabs = tabsOf(counts, total, data)
	page, err := h.Broadcasts.Search(r.Context(), v.Org.ID, broadcasts.Filter{Query: data.Query, State: broadcasts.State(data.State), Tag: data.Tag, Limit: frame.PageSize}, query.Get(frame.ParamCursor))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.Rows, err = h.rowsOf(r, v, page); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	known := int64(-1)
	if data.Query == "" && data.Tag == "" {
		known = int64(total)
		if data.State != "" {
			known = int64(counts[broadcasts.State(data.State)])
		}
	}
	data.Pager = frame.PagerOf(Path, query, len(data.Rows), page.Next, known)
	data.Empty = h.emptyOf(v, data.Narrow)
	head := frame.Head{Title: "Broadcasts", Count: count(total), Lead: "A broadcast is one message to all contacts of a list or segment."}
	if v.Member.Has(members.MayManageCampaigns) {
		head.Actions = []frame.Action{{Path: newPath, Name: "New broadcast", Primary: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "broadcasts", Title: "Broadcasts", Head: head, Notice: notices.NoticeOf(r), Data: data})
}

// tabsOf returns the links to the states that broadcasts have, with their numbers.
func tabsOf(counts map[broadcasts.State]int, total int, of listPage) []tab {
	address := func(state string) string {
		return frame.Address(Path, frame.Parameters{"state": state, "q": of.Query, "tag": of.Tag})
	}
	tabs := []tab{{address(""), "All", count(total), of.State == ""}}
	for _, s := range broadcasts.States() {
		if counts[s] > 0 || of.State == string(s) {
			tabs = append(tabs, tab{address(string(s)), states[s].Name, count(counts[s]), of.State == string(s)})
		}
	}
	return tabs
}

// rowsOf returns the rows of a page. Each audience is read once.
func (h *Room) rowsOf(r *http.Request, v people.Visitor, page core.Page[broadcasts.Record]) ([]row, error) {
	audiences := map[string]named{}
	var rows []row
	for _, b := range page.Items {
		audience, known := audiences[b.AudienceID]
		if !known {
			var err error
			if audience, err = h.audienceOf(r.Context(), v, broadcasts.Target{AudienceKind: b.AudienceKind, AudienceID: b.AudienceID}); err != nil {
				return nil, err
			}
			audiences[b.AudienceID] = audience
		}
		rows = append(rows, h.rowOf(b, audience))
	}
	return rows, nil
}

// rowOf returns the row of a broadcast.
func (h *Room) rowOf(b broadcasts.Record, audience named) row {
	shown := row{
		Path: Path + "/" + b.ID, Name: frame.PlainName(b.Name), Subject: frame.PlainName(b.Subject), Audience: audience, State: stateOf(b.State, b.Paused),
		Doing: "changed", When: h.When(b.UpdatedAt), Sending: b.State == broadcasts.Sending,
	}
	if s := b.Summary; s != nil {
		shown.Recipients, shown.Sent, shown.Failed, shown.Filtered = count(s.AudienceSize), count(s.Sent), count(s.Failed), count(s.Filtered)
		shown.Percent = percent(s.Sent+s.Failed+s.Filtered, s.AudienceSize)
	}
	at := func(doing string, t *time.Time) {
		if t != nil {
			shown.Doing, shown.When = doing, h.When(*t)
		}
	}
	switch b.State {
	case broadcasts.Scheduled:
		at("starts", b.ScheduleAt)
	case broadcasts.Sending:
		at("started", b.StartedAt)
	case broadcasts.Sent, broadcasts.PartiallyFailed:
		at("ended", b.CompletedAt)
	}
	return shown
}

// percent returns a part of a whole, from 0 to 100. An empty whole is complete.
func percent(part, whole int) int {
	if whole <= 0 {
		return 100
	}
	return min(100, 100*part/whole)
}

// emptyOf returns the text in place of a list without broadcasts.
func (h *Room) emptyOf(v people.Visitor, narrow bool) frame.Empty {
	if narrow {
		return frame.Empty{Text: "No broadcast matches these filters."}
	}
	empty := frame.Empty{Text: "There are no broadcasts. A broadcast sends one message to all contacts of a list or segment."}
	if v.Member.Has(members.MayManageCampaigns) {
		empty.Action = &frame.Action{Path: newPath, Name: "New broadcast"}
	}
	return empty
}
