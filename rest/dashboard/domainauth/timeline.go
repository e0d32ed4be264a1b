package domainauth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// eventRow is an event of the timeline.
type eventRow struct {
	ID, Anchor string
	Kind       mark
	Title      string
	At, Known  frame.When
	// Seen says how the change became known, "" for what people did.
	Seen     string
	Changed  bool
	Old, New string
	Note     string
	Compare  string
}

// timelinePage is the data of the timeline of a domain.
type timelinePage struct {
	domainHead
	Events []eventRow
	Kinds  []frame.Option
	Empty  frame.Empty
	Pager  frame.Pager
	Note   *noteForm // nil for visitors who may not write notes
}

// noteForm is the form that adds a note.
type noteForm struct {
	Form      frame.Form
	Once      string
	Note, Day string
	Latest    string
	Open      bool
}

// showTimeline shows the events of a domain, newest first.
func (h timelinePages) showTimeline(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.timelinePage(w, r, v, noteForm{}, nil)
}

// timelinePage writes the page. typed has the values of the form for a note, refused is its
// error or nil.
func (h timelinePages) timelinePage(w http.ResponseWriter, r *http.Request, v people.Visitor, typed noteForm, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	asked := r.URL.Query()
	arguments := named(r)
	arguments["limit"], arguments["kind"], arguments["cursor"] = frame.PageSize, asked.Get("kind"), asked.Get(frame.ParamCursor)
	var page frame.List[domainauth.Event]
	err := h.Read(r, v, "domain_auth_timeline_list", frame.SetArguments(arguments), &page)
	if unfit, code := labels.FilterProblem(err); unfit != "" {
		problem, status = unfit, code
	} else if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := timelinePage{domainHead: newDomainHead(p.Posture, tabTimeline), Kinds: eventOptions(asked.Get("kind"))}
	data.Pager = frame.PagerOf(data.Path+tabTimeline, asked, len(page.Data), page.Next(), -1)
	data.Empty = frame.Empty{Text: "Nothing happened yet. Changes of the DMARC, SPF and DKIM records appear here, and what members decide."}
	if asked.Get("kind") != "" {
		data.Empty = frame.Empty{Text: "No event is of this kind.", Action: &frame.Action{Path: data.Path + tabTimeline, Name: "Show all events"}}
	}
	day := ""
	for _, e := range page.Data {
		row := h.newEventRow(data.Path, e)
		if at := e.OccurredAt.UTC().Format(time.DateOnly); at != day {
			day, row.Anchor = at, "day-"+at
		}
		data.Events = append(data.Events, row)
	}
	if mayManage(v) {
		typed.Form, typed.Once, typed.Latest, typed.Open = frame.FormTo(v, data.Path+tabTimeline+"/notes"), core.NewID(), h.Clock().UTC().Format(frame.DateLayout), refused != nil
		data.Note = &typed
	}
	h.show(w, r, v, status, p.Domain, frame.Screen{Page: "timeline", Title: "Timeline", Problem: problem, Data: data, Head: frame.Head{
		Lead: "What changed at the domain and when, so that a change in the figures has an explanation.",
	}})
}

// newEventRow returns the row of an event. Records and notes are shown as they are, without
// invisible characters.
func (h *Room) newEventRow(path string, e domainauth.Event) eventRow {
	row := eventRow{
		ID: e.ID, Kind: markOfEvent(e.Kind), Title: frame.PlainName(e.Title), At: h.When(e.OccurredAt), Changed: e.Kind.ChangesMail(),
		Old: plain(e.OldRecord), New: plain(e.NewRecord), Note: plain(e.Note),
	}
	if e.Kind == timeline.Note {
		row.Title = ""
	}
	if !e.ObservedAt.Equal(e.OccurredAt) {
		row.Known = h.When(e.ObservedAt)
	}
	if row.Changed {
		row.Compare = eventPath(path+tabTimeline, e)
		row.Seen = map[timeline.Origin]string{timeline.DNS: "Seen in DNS", timeline.Reports: "Stated by reports"}[e.Origin]
		if e.Sightings > 1 {
			row.Seen += ", " + core.WithCommas(e.Sightings) + " times"
		}
	}
	return row
}

// eventPath returns the path of the page of an event. timelinePath is that of its timeline.
func eventPath(timelinePath string, e domainauth.Event) string {
	return timelinePath + "/" + url.PathEscape(e.ID)
}

// titleOf returns the title of an event in one line. A note has its first words as title.
func titleOf(e domainauth.Event) string {
	if e.Kind != timeline.Note || e.Note == nil {
		return frame.PlainName(e.Title)
	}
	const most = 60
	words := []rune(strings.Join(strings.Fields(plain(e.Note)), " "))
	if len(words) > most {
		words = append(words[:most], '…')
	}
	return "Note: " + string(words)
}

// createNote adds a note to the timeline.
func (h timelinePages) createNote(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	typed := noteForm{Note: strings.TrimSpace(r.PostForm.Get("note")), Day: strings.TrimSpace(r.PostForm.Get("day"))}
	arguments := named(r)
	arguments["note"] = typed.Note
	if typed.Day != "" && typed.Day != h.Clock().UTC().Format(frame.DateLayout) {
		day, err := time.Parse(frame.DateLayout, typed.Day)
		if err != nil {
			h.timelinePage(w, r, v, typed, core.Invalid("occurred_at", "must be a date"))
			return
		}
		arguments["occurred_at"] = day
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "domain_auth_notes_create", Arguments: arguments, Once: once}, nil); err != nil {
		h.timelinePage(w, r, v, typed, err)
		return
	}
	frame.RedirectWithNotice(w, domainPath(r.PathValue("domain"))+tabTimeline, "noted")
}
