package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const auditPath = Path + "/audit"

// auditPageSize is how many events a page shows.
const auditPageSize = 50

// maxFilter bounds what is asked for, in bytes.
const maxFilter = 100

// dateLayout is a date as people and date fields write it; all dates are UTC.
const dateLayout = time.DateOnly

func (d *Dashboard) auditPages() []route {
	return []route{{path: "/audit", needs: access.MayViewAudit, get: d.showAudit}}
}

// auditQuery is what a reader asks of the log, as the address of the page has it.
type auditQuery struct{ Action, Actor, From, To string }

func readAuditQuery(values url.Values) auditQuery {
	return auditQuery{Action: values.Get("action"), Actor: values.Get("actor"), From: values.Get("from"), To: values.Get("to")}
}

func (q auditQuery) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"action": q.Action, "actor": q.Actor, "from": q.From, "to": q.To} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// filter is the query as the store takes it. The last day is whole. A cursor is
// of the query that it came with.
func (q auditQuery) filter(cursor string) (access.AuditFilter, error) {
	f := access.AuditFilter{Action: q.Action, ActorID: q.Actor, Limit: auditPageSize + 1}
	for field, value := range map[string]string{"action": q.Action, "actor": q.Actor} {
		if len(value) > maxFilter || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return f, core.Invalid(field, "must be a short name")
		}
	}
	var err error
	if f.From, err = day("from", q.From); err != nil {
		return f, err
	}
	if f.To, err = day("to", q.To); err != nil {
		return f, err
	}
	if !f.To.IsZero() {
		f.To = f.To.AddDate(0, 0, 1)
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

func day(field, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(dateLayout, value)
	if err != nil {
		return time.Time{}, core.Invalid(field, "must be a date such as 2026-01-31")
	}
	return t, nil
}

// auditPage is what the page of the log shows.
type auditPage struct {
	Query   auditQuery
	Narrow  bool // some filter is set
	All     string
	Actions []option
	Actors  []option
	Events  []auditEvent
	Older   string // the address of the next page, "" on the last
	Newest  string // the address of the first page, "" on it
}

type option struct {
	Value, Name string
	Chosen      bool
}

func (d *Dashboard) showAudit(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	q, cursor := readAuditQuery(r.URL.Query()), r.URL.Query().Get("before")
	data, err := d.readAudit(r, v, q, cursor)
	e := core.AsError(err)
	switch {
	case err == nil:
		d.show(w, r, v, http.StatusOK, screen{page: "audit", title: "Audit log", data: data})
	case e.Code == core.CodeValidationFailed:
		d.refuse(w, r, v, e.HTTPStatus(), "The log cannot be asked that", e.Message+" "+e.NextStep())
	default:
		d.fail(w, r, v, err)
	}
}

func (d *Dashboard) readAudit(r *http.Request, v access.Visitor, q auditQuery, cursor string) (auditPage, error) {
	f, err := q.filter(cursor)
	if err != nil {
		return auditPage{}, err
	}
	events, err := d.Audit.FindAudit(r.Context(), v.Org.ID, f)
	if err != nil {
		return auditPage{}, fmt.Errorf("audit log: %w", err)
	}
	names, err := d.auditNames(r.Context(), v.Org.ID)
	if err != nil {
		return auditPage{}, err
	}
	data := auditPage{Query: q, Narrow: q != auditQuery{}, All: auditPath, Actions: actionOptions(q.Action), Actors: names.options(q.Actor)}
	values := q.values()
	if cursor != "" {
		data.Newest = auditPath + "?" + values.Encode()
	}
	if len(events) > auditPageSize {
		events = events[:auditPageSize]
		last := events[auditPageSize-1]
		values.Set("before", core.EncodeCursor(q.values().Encode(), strconv.FormatInt(last.OccurredAt.UnixMicro(), 10), last.ID))
		data.Older = auditPath + "?" + values.Encode()
	}
	for _, e := range events {
		shown, err := d.auditEvent(r.Context(), names, e)
		if err != nil {
			return auditPage{}, err
		}
		data.Events = append(data.Events, shown)
	}
	return data, nil
}
