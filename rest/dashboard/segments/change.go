package segments

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// change is a change of a segment's state.
type change struct {
	Button, Heading, Effect string
	// Broken says what happens to the segments that test the segment, or "".
	Broken string
	To     segments.Status
	Danger bool
	// Notice is the name of the message after the change. Action is its name in the audit
	// log.
	Notice, Action string
}

// changes are the changes of a segment's state, by their name in the page's address.
var changes = map[string]change{
	"pause": {
		Button: "Pause segment", Heading: "Pause this segment?", To: segments.Paused, Notice: "paused", Action: "segment.paused",
		Effect: "Its members stay as they are. No contact enters or leaves until you resume it.",
		Broken: "They go on testing its present members.",
	},
	"resume": {
		Button: "Resume segment", Heading: "Resume this segment?", To: segments.Active, Notice: "resumed", Action: "segment.resumed",
		Effect: "All contacts are evaluated for it, and contacts enter and leave it again.",
		Broken: "They are evaluated with its new members.",
	},
	"archive": {
		Button: "Archive segment", Heading: "Archive this segment?", To: segments.Archived, Danger: true, Notice: "archived", Action: "segment.archived",
		Effect: "It is no longer evaluated, and predicates can no longer name it. It stays in the list, and you can restore it.",
		Broken: "Their predicates will not compile. They get the state Error and keep their members.",
	},
	"restore": {
		Button: "Restore segment", Heading: "Restore this segment?", To: segments.Active, Notice: "restored", Action: "segment.restored",
		Effect: "All contacts are evaluated for it, and predicates can name it again.",
	},
}

// changesOf has the names of the changes that a segment in each state allows.
var changesOf = map[segments.Status][]string{
	segments.Active: {"pause", "archive"}, segments.Invalid: {"pause", "archive"}, segments.Paused: {"resume", "archive"}, segments.Archived: {"restore"},
}

// changePage is the data of the page that asks before a change of the state.
type changePage struct {
	change
	Name       string
	Back       string
	Members    string
	Dependents []linked
	Form       frame.Form
}

// allowed returns the segment and the change that the request names. If it returns false,
// it has written an answer.
func (h *Segments) allowed(w http.ResponseWriter, r *http.Request, v people.Visitor) (segments.Segment, change, bool) {
	s, err := h.Author.Segment(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return s, change{}, false
	}
	c, known := changes[r.PathValue("change")]
	if !known {
		h.NoSuchPage(w, r, v)
		return s, c, false
	}
	if e := refuseReadOnly(v, s); e != nil {
		h.Refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
		return s, c, false
	}
	for _, name := range changesOf[s.Status] {
		if name == r.PathValue("change") {
			return s, c, true
		}
	}
	h.Refuse(w, r, v, http.StatusConflict, "This segment cannot be changed in this way", "Its state is "+stateOf(s).Name+" now. Open the segment to see what is possible.")
	return s, c, false
}

// showChange asks whether to change the state, and says what depends on the segment.
func (h *Segments) showChange(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	dependents, err := h.dependents(r, v, s)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := changePage{
		change: c, Name: frame.PlainName(s.Name), Back: pathOf(s), Members: frame.Quantity(int64(s.MemberCount), "member", "members"), Dependents: dependents,
		Form: frame.FormTo(v, r.URL.Path),
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "change", Title: c.Heading, Head: frame.Head{Title: c.Heading, Parents: []frame.Link{{Path: pathOf(s), Name: data.Name}}}, Data: data,
	})
}

// changeStatus changes the state of the segment and redirects to its page.
func (h *Segments) changeStatus(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	err := h.TransactorWith(v, members.MayManageSegments).InTx(r.Context(), func(ctx context.Context) error {
		if _, err := h.Definitions.SetStatus(ctx, v.Org.ID, s.ID, c.To); err != nil {
			return err
		}
		return h.Record(ctx, v, c.Action, s.ID, nil)
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, pathOf(s), c.Notice)
}
