package webhooks

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notices are the messages that the pages show after a change, by name.
var notices = frame.Notices{
	"edited":  "The endpoint is changed.",
	"tested":  "A test event is on its way. Its delivery is in the log below within seconds.",
	"deleted": "The endpoint is deleted. Nothing more is sent to it.",
	"resent":  "The delivery is sent again within seconds.",
}

// endpointRow is the data of an endpoint in the list and on its own page.
type endpointRow struct {
	Path, Host, URL, Description string
	Events                       string
	State                        state
	Created                      string
}

// state is what a page says about an endpoint: its mark, and the reason.
type state struct{ Name, Class, Reason string }

// stateOf returns the state of an endpoint.
func (h *Webhooks) stateOf(e webhooks.Endpoint) state {
	switch {
	case e.DisabledAt != nil:
		return state{"disabled", "ended", "Mailhelm disabled it on " + e.DisabledAt.UTC().Format(frame.DateLayout) + ", because every attempt of five days failed."}
	case !e.Enabled:
		return state{"disabled", "ended", "A person disabled it."}
	case e.FailingSince != nil:
		until := e.FailingSince.Add(webhooks.FailingLimit).UTC().Format(frame.MomentLayout)
		return state{"failing", "bounced", "Every attempt since " + e.FailingSince.UTC().Format(frame.MomentLayout) + " failed. Without a success before " + until + ", the endpoint is disabled."}
	}
	return state{Name: "enabled", Class: "delivered"}
}

// newRow returns the data of an endpoint for the pages.
func (h *Webhooks) newRow(e webhooks.Endpoint) endpointRow {
	row := endpointRow{
		Path: ListPath + "/" + e.ID, URL: e.URL, Description: frame.PlainName(e.Description), Events: eventNames(e.Types), State: h.stateOf(e),
		Created: e.CreatedAt.UTC().Format(frame.DateLayout),
	}
	if u, err := url.Parse(e.URL); err == nil {
		row.Host = u.Host
	}
	return row
}

// title returns the name of the endpoint on pages: its description, or else its host.
func (r endpointRow) title() string { return cmp.Or(r.Description, r.Host) }

// eventNames returns the types separated by commas, or "all events".
func eventNames(types []webhooks.EventType) string {
	if len(types) == len(webhooks.EventTypes()) {
		return "all events"
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// endpointList is the data of the page that lists the endpoints.
type endpointList struct {
	Rows  []listedRow
	Empty frame.Empty
}

// listedRow is an endpoint in the list.
type listedRow struct {
	endpointRow
	Title string
}

// showEndpoints lists the endpoints.
func (h *Webhooks) showEndpoints(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	all, err := h.hooks.Store.Endpoints(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	add := frame.Action{Path: newPath, Name: "Add endpoint", Primary: true}
	data := endpointList{Empty: frame.Empty{
		Text: "An endpoint receives each bounce, complaint, click or other event of your messages seconds after it happens.", Action: &add,
		Guide: h.Guide(guide, "Receive events by webhook"),
	}}
	for _, e := range all {
		row := h.newRow(e)
		data.Rows = append(data.Rows, listedRow{row, row.title()})
	}
	head := frame.Head{Lead: "Events of messages are sent to these URLs, signed and repeated until your server accepts them."}
	if len(all) > 0 {
		head.Count = strconv.Itoa(len(all))
		if len(all) < webhooks.MaxEndpoints {
			head.Actions = []frame.Action{add}
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "endpoints", Title: "Event webhooks", Notice: notices.NoticeOf(r), Head: head, Data: data})
}
