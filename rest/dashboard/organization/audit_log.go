package organization

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// auditPageSize is the number of events on one page of the audit log.
const auditPageSize = 50

// maxFilter is the maximum length of an action or actor to filter by, in bytes.
const maxFilter = 100

// auditQuery is the filter of the audit log in the query of the page's address.
type auditQuery struct{ Action, Actor, From, To string }

// readAuditQuery returns the filter in the query parameters, unchecked.
func readAuditQuery(values url.Values) auditQuery {
	return auditQuery{Action: values.Get("action"), Actor: values.Get("actor"), From: values.Get("from"), To: values.Get("to")}
}

// values returns the filter as query parameters, without empty ones.
func (q auditQuery) values() url.Values {
	return frame.Parameters{"action": q.Action, "actor": q.Actor, "from": q.From, "to": q.To}.Values()
}

// filter returns the filter for the store, with To at the end of its day. It fails with
// validation_failed for an invalid filter, and for a cursor that belongs to another filter.
func (q auditQuery) filter(cursor string) (access.AuditFilter, error) {
	f := access.AuditFilter{Action: q.Action, ActorID: q.Actor, Limit: auditPageSize + 1}
	for field, value := range map[string]string{"action": q.Action, "actor": q.Actor} {
		if len(value) > maxFilter || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return f, core.Invalid(field, "must be a short name")
		}
	}
	var err error
	if f.From, f.To, err = frame.DayRange(q.From, q.To); err != nil {
		return f, err
	}
	keys, err := core.DecodeCursor(q.values().Encode(), cursor, 2)
	if err != nil || keys == nil {
		return f, err
	}
	micros, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil {
		return f, core.Invalid("cursor", "is not a cursor of this list")
	}
	f.Before = &access.AuditCursor{OccurredAt: time.UnixMicro(micros), ID: keys[1]}
	return f, nil
}

// auditPage is the data of the page of the audit log.
type auditPage struct {
	Query   auditQuery
	Narrow  bool // whether a filter is set
	All     string
	Actions []frame.Option
	Actors  []frame.Option
	Events  []auditEvent
	Older   string // the address of the next page; "" on the last page
	Newest  string // the address of the first page; "" on the first page
}

// showAudit shows the audit events that match the filter in the query. It refuses an
// invalid filter or cursor.
func (h auditHandlers) showAudit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	q, cursor := readAuditQuery(r.URL.Query()), r.URL.Query().Get("before")
	data, err := h.readAudit(r, v, q, cursor)
	problem, status := frame.Labels{"action": "The action", "actor": "The actor", "from": "The first day", "to": "The last day"}.FilterProblem(err)
	switch {
	case err == nil:
		h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "audit", Title: "Audit log", Data: data, Head: frame.Head{
			Lead: "What people, programs and assistants changed in this organization, newest first.",
		}})
	case problem != "":
		h.Refuse(w, r, v, status, "This filter is not supported", problem)
	default:
		h.Fail(w, r, v, err)
	}
}

// readAudit reads the data of one page of the audit log, newest event first. It fails with
// validation_failed for an invalid filter or cursor.
func (h auditHandlers) readAudit(r *http.Request, v people.Visitor, q auditQuery, cursor string) (auditPage, error) {
	f, err := q.filter(cursor)
	if err != nil {
		return auditPage{}, err
	}
	events, err := h.Audit.FindAudit(r.Context(), v.Org.ID, f)
	if err != nil {
		return auditPage{}, fmt.Errorf("audit log: %w", err)
	}
	names, err := h.auditNames(r.Context(), v)
	if err != nil {
		return auditPage{}, err
	}
	data := auditPage{Query: q, Narrow: q != auditQuery{}, All: AuditPath, Actions: h.actionOptions(q.Action), Actors: names.options(q.Actor)}
	values := q.values()
	if cursor != "" {
		data.Newest = AuditPath + "?" + values.Encode()
	}
	if len(events) > auditPageSize {
		events = events[:auditPageSize]
		last := events[auditPageSize-1]
		values.Set("before", core.EncodeCursor(q.values().Encode(), strconv.FormatInt(last.OccurredAt.UnixMicro(), 10), last.ID))
		data.Older = AuditPath + "?" + values.Encode()
	}
	for _, e := range events {
		shown, err := h.newAuditEvent(r.Context(), names, e)
		if err != nil {
			return auditPage{}, err
		}
		data.Events = append(data.Events, shown)
	}
	return data, nil
}
