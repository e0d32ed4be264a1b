package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// paramState is the query parameter of the log that selects failed deliveries.
const paramState = "state"

// problems has the words for an attempt without a response.
var problems = map[standardhooks.Problem]string{
	standardhooks.TimedOut:       "No response within 10 seconds",
	standardhooks.RefusedAddress: "The host has an address that is not on the public Internet, or the port is not 443",
	standardhooks.BadCertificate: "The TLS certificate is not trusted, or is for another host",
	standardhooks.UnknownHost:    "The host name does not exist",
	standardhooks.NotConnected:   "The connection could not be established, or was closed without a response",
	standardhooks.NotSent:        "The request could not be created",
}

// deliveryRow is the data of a delivery in the log and on its own page.
type deliveryRow struct {
	Path, Name, Type, Class, Recipient, MessagePath string
	Test                                            bool
	State, StateClass, Outcome                      string
	Attempts                                        int
	Created, Next, Answered                         frame.When
}

// stateClasses has the CSS class of the mark of each state.
var stateClasses = map[webhooks.State]string{
	webhooks.Accepted: "delivered", webhooks.Failed: "bounced", webhooks.Pending: "delayed", webhooks.Sending: "sent",
}

func (h *Webhooks) newDelivery(d webhooks.Delivery) deliveryRow {
	row := deliveryRow{
		Path: ListPath + "/" + d.EndpointID + "/deliveries/" + d.ID, Name: d.ID[:8], Type: string(d.Type), Class: string(d.Type), Recipient: frame.PlainName(d.Recipient),
		Test: d.Test, State: string(d.State), StateClass: stateClasses[d.State], Attempts: d.Attempts, Created: h.When(d.CreatedAt), Outcome: outcomeOf(d),
	}
	if d.MessageID != "" && !d.Test {
		row.MessagePath = frame.Path + "/messages/" + url.PathEscape(d.MessageID)
	}
	if d.State == webhooks.Pending && d.DueAt != nil {
		row.Next = h.When(*d.DueAt)
		if d.Attempts > 0 {
			row.State = "retrying"
		}
	}
	if d.AnsweredAt != nil {
		row.Answered = h.When(*d.AnsweredAt)
	}
	return row
}

// outcomeOf returns the words for the last attempt of a delivery, or "" before the first.
func outcomeOf(d webhooks.Delivery) string {
	switch {
	case d.AnsweredAt == nil:
		return ""
	case d.Status > 0:
		return "Status " + strconv.Itoa(d.Status)
	}
	return problems[d.Problem]
}

// endpointPage is the data of the page of an endpoint.
type endpointPage struct {
	Endpoint   endpointRow
	Grace      string // until when two secrets sign, or ""
	Test       *frame.Form
	RotatePath string
	DeletePath string
	Log        []deliveryRow
	Filter     logFilter
	Empty      frame.Empty
	Pager      frame.Pager
}

// logFilter has the links above the log.
type logFilter struct {
	All, Failed string
	OnlyFailed  bool
}

// showEndpoint shows an endpoint and its deliveries of the last 30 days, newest first.
func (h *Webhooks) showEndpoint(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok {
		return
	}
	row, query := h.newRow(e), r.URL.Query()
	data := endpointPage{
		Endpoint: row, Grace: h.graceOf(e), RotatePath: row.Path + "/rotate", DeletePath: row.Path + "/delete",
		Filter: logFilter{row.Path, row.Path + "?" + paramState + "=" + string(webhooks.Failed), query.Get(paramState) == string(webhooks.Failed)},
	}
	if e.Enabled {
		test := frame.FormTo(v, row.Path+"/test")
		data.Test = &test
	}
	found, next, err := h.readLog(r, v, e.ID, data.Filter.OnlyFailed)
	problem, status := labels.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	for _, d := range found {
		data.Log = append(data.Log, h.newDelivery(d))
	}
	data.Empty.Text = "Each event is listed here for 30 days, with the answers of your server."
	if data.Filter.OnlyFailed {
		data.Empty.Text = "No delivery of the last 30 days has failed for good."
	}
	data.Pager = frame.PagerOf(row.Path, query, len(found), next, -1)
	h.Show(w, r, v, status, frame.Screen{Page: "endpoint", Title: row.title(), Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Actions: []frame.Action{{Path: row.Path + "/edit", Name: "Edit endpoint"}},
	}})
}

// readLog returns a page of the log, and the cursor of the next page.
func (h *Webhooks) readLog(r *http.Request, v people.Visitor, endpointID string, onlyFailed bool) ([]webhooks.Delivery, string, error) {
	digest := fmt.Sprint("webhook deliveries ", endpointID, onlyFailed)
	before, err := positionOf(digest, r.URL.Query().Get(frame.ParamCursor))
	if err != nil {
		return nil, "", err
	}
	found, err := h.hooks.Store.Deliveries(r.Context(), v.Org.ID, endpointID, webhooks.Filter{OnlyFailed: onlyFailed, Before: before, Limit: frame.PageSize + 1})
	if err != nil || len(found) <= frame.PageSize {
		return found, "", err
	}
	found = found[:frame.PageSize]
	last := found[len(found)-1]
	return found, core.EncodeCursor(digest, strconv.FormatInt(last.CreatedAt.UnixMicro(), 10), last.ID), nil
}

// positionOf returns the position in a cursor, or nil for "".
func positionOf(digest, cursor string) (*webhooks.Position, error) {
	keys, err := core.DecodeCursor(digest, cursor, 2)
	if err != nil || keys == nil {
		return nil, err
	}
	micros, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil {
		return nil, core.Invalid(frame.ParamCursor, "is not a cursor of this list")
	}
	return &webhooks.Position{CreatedAt: time.UnixMicro(micros).UTC(), ID: keys[1]}, nil
}

// deliveryPage is the data of the page of a delivery.
type deliveryPage struct {
	Delivery deliveryRow
	ID       string
	Body     string
	Answer   string
	Resend   *frame.Form // nil if the delivery cannot be sent now
}

// deliveryOf returns the delivery whose id is in the path. If it returns false, it has
// written the response.
func (h *Webhooks) deliveryOf(w http.ResponseWriter, r *http.Request, v people.Visitor, e webhooks.Endpoint) (webhooks.Delivery, bool) {
	id := r.PathValue("delivery")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return webhooks.Delivery{}, false
	}
	d, err := h.hooks.Store.Delivery(r.Context(), v.Org.ID, e.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return webhooks.Delivery{}, false
	}
	return d, true
}

// showDelivery shows one delivery with the body that was sent and the answer.
func (h *Webhooks) showDelivery(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok {
		return
	}
	d, ok := h.deliveryOf(w, r, v, e)
	if !ok {
		return
	}
	row := h.newDelivery(d)
	data := deliveryPage{Delivery: row, ID: d.ID, Body: indented(d.Body), Answer: d.Answer}
	if e.Enabled && d.State != webhooks.Sending {
		form := frame.FormTo(v, row.Path+"/resend")
		data.Resend = &form
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "delivery", Title: "Delivery " + row.Name, Notice: notices.NoticeOf(r), Head: under(h.newRow(e)), Data: data})
}

// indented returns the JSON of a body with a line for each member. The order of members and
// their values stay.
func indented(body string) string {
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(body), "", "  "); err != nil {
		return core.OnlyVisible(body)
	}
	return core.OnlyVisible(lines.String())
}

// resend makes a delivery due at once.
func (h *Webhooks) resend(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok {
		return
	}
	d, ok := h.deliveryOf(w, r, v, e)
	if !ok {
		return
	}
	if err := h.permitted(v).Resend(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, e.ID, d.ID); err != nil {
		h.refuseOrFail(w, r, v, "The delivery was not sent again", err)
		return
	}
	frame.RedirectWithNotice(w, ListPath+"/"+e.ID+"/deliveries/"+d.ID, "resent")
}
