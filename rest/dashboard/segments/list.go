package segments

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// state is the state of a segment in words, with the class of its mark.
type state struct{ Name, Mark string }

var states = map[segments.Status]state{
	segments.Active: {"Active", "good"}, segments.Paused: {"Paused", "ended"}, segments.Invalid: {"Error", "live"}, segments.Archived: {"Archived", "ended"},
}

// stateOf returns the state of a segment. An active segment is evaluating until all
// contacts have been evaluated since its last change.
func stateOf(s segments.Segment) state {
	if s.Status == segments.Active && s.Stale {
		return state{"Evaluating", "test"}
	}
	return states[s.Status]
}

// originOf returns where a segment is defined.
func originOf(s segments.Segment) string {
	if s.Origin == segments.Git {
		return "Repository"
	}
	return "Dashboard"
}

// segmentRow is the data of one segment in the list.
type segmentRow struct {
	Path, Name, Key string
	Members         string
	State           state
	Warns           bool
	Evaluated       frame.When
	Origin          string
}

// listPage is the data of the list of segments.
type listPage struct {
	All, Query string
	Statuses   []frame.Option
	Narrow     bool
	Rows       []segmentRow
	Pager      frame.Pager
	Empty      frame.Empty
}

// showSegments lists the segments that match the filters in the page's address.
func (h *Segments) showSegments(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	f := segments.Filter{Query: query.Get("q"), Status: segments.Status(query.Get("status"))}
	page, err := h.Author.Find(r.Context(), v.Org.ID, f, query.Get(frame.ParamCursor), frame.PageSize)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{All: Path, Query: f.Query, Narrow: f.Query != "" || f.Status != ""}
	for _, s := range []segments.Status{segments.Active, segments.Paused, segments.Invalid, segments.Archived} {
		data.Statuses = append(data.Statuses, frame.Option{Value: string(s), Name: states[s].Name})
	}
	data.Statuses = frame.ChooseOption(data.Statuses, string(f.Status))
	for _, s := range page.Items {
		data.Rows = append(data.Rows, h.rowOf(s))
	}
	data.Pager = frame.PagerOf(Path, query, len(data.Rows), page.Next, int64(page.Total))
	data.Empty = h.emptyOf(v, data.Narrow)
	head := frame.Head{
		Title: "Segments", Count: core.WithCommas(page.Total),
		Lead: "A segment is a group of contacts that a predicate describes. Its members follow the contacts as they change.",
	}
	if mayCreate(v) {
		head.Actions = []frame.Action{{Path: newPath, Name: "Create segment", Primary: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "segments", Title: "Segments", Head: head, Notice: notices.NoticeOf(r), Data: data})
}

func (h *Segments) rowOf(s segments.Segment) segmentRow {
	row := segmentRow{
		Path: pathOf(s), Name: frame.PlainName(s.Name), Key: s.Key, Members: core.WithCommas(s.MemberCount), State: stateOf(s),
		Warns: s.EvalWarning != "", Origin: originOf(s),
	}
	if s.LastEvaluatedAt != nil {
		row.Evaluated = h.When(*s.LastEvaluatedAt)
	}
	return row
}

// emptyOf returns the text in place of a list without segments.
func (h *Segments) emptyOf(v people.Visitor, narrow bool) frame.Empty {
	if narrow {
		return frame.Empty{Text: "No segment matches these filters."}
	}
	empty := frame.Empty{
		Text:  "There are no segments. A segment selects contacts by what they are and what they did.",
		Guide: h.Guide("/guides/predicates", "Learn the language of predicates"),
	}
	if mayCreate(v) {
		empty.Action = &frame.Action{Path: newPath, Name: "Create segment"}
	}
	return empty
}

// mayCreate reports whether the visitor may create segments: new ones come from the repository of an
// organization that has one.
func mayCreate(v people.Visitor) bool {
	return v.Member.Has(members.MayManageSegments) && !v.Org.GitConnected
}

// pathOf returns the path of the page of a segment. Keys have only letters, digits, - and _,
// and one of them may equal the name of another page, so the path has the id.
func pathOf(s segments.Segment) string { return Path + "/" + url.PathEscape(s.ID) }

// refuseReadOnly returns the error for a change of a segment that a repository defines, nil for one that
// may be changed. A segment that the repository of earlier times defined and that was archived may be.
func refuseReadOnly(v people.Visitor, s segments.Segment) *core.Error {
	if s.Origin == segments.Git && (v.Org.GitConnected || s.Status != segments.Archived) {
		return core.RefuseGitOwned("segment")
	}
	return nil
}
