package segments

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// contactsPath is the path of the list of contacts. The page of one contact is below it.
const contactsPath = frame.Path + "/contacts"

// notices are the messages that the pages show after a change, by their name in the address.
var notices = frame.Notices{
	"saved":    "The segment is saved. All contacts are evaluated for it within seconds.",
	"paused":   "The segment is paused. It keeps its members until it is resumed.",
	"resumed":  "The segment is resumed. All contacts are evaluated for it within seconds.",
	"archived": "The segment is archived. It keeps its members and is no longer evaluated.",
	"restored": "The segment is restored. All contacts are evaluated for it within seconds.",
}

// memberRecord is a member of a segment as the operation returns it.
type memberRecord struct {
	ContactID string `json:"contact_id"`
	Email     string `json:"email"`
	Mailable  bool   `json:"mailable"`
	EnteredAt string `json:"entered_at"`
}

// contactRow is the data of a contact in a table. Path is "" if the visitor may not see
// contacts.
type contactRow struct {
	Path, Email string
	Mailable    bool
	Entered     frame.When
}

// linked is a segment in a list of links.
type linked struct{ Path, Name, Key string }

// segmentPage is the data of the page of one segment.
type segmentPage struct {
	ID, Key, Name, Description string
	Source, Words              string
	Parts                      *predicate.Part
	State                      state
	Class                      string
	Members                    string
	Evaluated, Created, Update frame.When
	Origin                     string
	// Warning is the warning of the last evaluation, or "".
	Warning   string
	WarningAt frame.When
	// ReadOnly is true if the segment is defined by the connected repository. File is its
	// path there.
	ReadOnly bool
	File     string
	Faults   []fault
	Lint     []hint
	// Changes are links to the pages that change the state.
	Changes    []frame.Link
	Dependents []linked
	// Sizes is the chart of the number of members, nil without one. Periods are those that
	// can be chosen.
	Sizes    *chart.Panel
	Periods  frame.Periods
	Contacts []contactRow
	Pager    frame.Pager
	Empty    frame.Empty
}

// classWords say when the members of a segment change.
var classWords = map[predicate.EvalClass]string{
	predicate.Incremental: "When contacts or their events change",
	predicate.Sweep:       "As time passes",
	predicate.Both:        "When contacts or their events change, and as time passes",
}

// showSegment shows a segment with its members.
func (h *Segments) showSegment(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, err := h.Author.Segment(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data, err := h.pageOf(r, v, s)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	screen := frame.Screen{Page: "segment", Title: data.Name, Head: frame.Head{Title: data.Name, Lead: data.Description}, Notice: notices.NoticeOf(r), Data: data}
	if v.Member.Has(members.MayManageSegments) && !data.ReadOnly {
		screen.Head.Actions = []frame.Action{{Path: pathOf(s) + "/edit", Name: "Edit segment", Primary: true}}
	}
	h.Show(w, r, v, http.StatusOK, screen)
}

// pageOf returns the data of the page of a segment.
func (h *Segments) pageOf(r *http.Request, v people.Visitor, s segments.Segment) (segmentPage, error) {
	data := segmentPage{
		ID: s.ID, Key: s.Key, Name: frame.PlainName(s.Name), Description: frame.PlainName(s.Description), Source: frame.PlainName(s.Source),
		State: stateOf(s), Class: classWords[s.EvalClass], Members: core.WithCommas(s.MemberCount), Origin: originOf(s),
		Created: h.When(s.CreatedAt), Update: h.When(s.UpdatedAt), Warning: frame.PlainName(s.EvalWarning),
		ReadOnly: refuseReadOnly(v, s) != nil, File: frame.PlainName(s.SourcePath),
	}
	if s.LastEvaluatedAt != nil {
		data.Evaluated = h.When(*s.LastEvaluatedAt)
	}
	if s.EvalWarningAt != nil {
		data.WarningAt = h.When(*s.EvalWarningAt)
	}
	review, err := h.Author.Review(r.Context(), v.Org, s.Key, s.Source)
	if err != nil {
		return data, err
	}
	data.Words, data.Parts = review.Words, review.Parts
	data.Faults, data.Lint = faultsOf(s.Source, review.Faults), hintsOf(review)
	if data.Dependents, err = h.dependents(r, v, s); err != nil {
		return data, err
	}
	if v.Member.Has(members.MayManageSegments) && !data.ReadOnly {
		for _, name := range changesOf[s.Status] {
			data.Changes = append(data.Changes, frame.Link{Path: pathOf(s) + "/" + name, Name: changes[name].Button})
		}
	}
	if err := h.addSizes(r, v, s, &data); err != nil {
		return data, err
	}
	return data, h.addMembers(r, v, s, &data)
}

// dependents returns the segments whose predicate tests the segment s.
func (h *Segments) dependents(r *http.Request, v people.Visitor, s segments.Segment) ([]linked, error) {
	found, err := h.Author.Dependents(r.Context(), v.Org.ID, s.Key)
	if err != nil {
		return nil, err
	}
	var links []linked
	for _, d := range found {
		links = append(links, linked{pathOf(d), frame.PlainName(d.Name), d.Key})
	}
	return links, nil
}

// addMembers reads a page of members.
func (h *Segments) addMembers(r *http.Request, v people.Visitor, s segments.Segment, data *segmentPage) error {
	query := r.URL.Query()
	var page frame.List[memberRecord]
	if err := h.Read(r, v, "segments_members", frame.SetArguments(map[string]any{
		"id": s.ID, "limit": frame.PageSize, "cursor": query.Get(frame.ParamCursor),
	}), &page); err != nil {
		return err
	}
	for _, m := range page.Data {
		row := contactRow{Email: frame.PlainName(m.Email), Mailable: m.Mailable, Entered: h.WhenText(m.EnteredAt)}
		if h.MayOpen(v, contactsPath) {
			row.Path = contactsPath + "/" + m.ContactID
		}
		data.Contacts = append(data.Contacts, row)
	}
	data.Pager = frame.PagerOf(pathOf(s), query, len(page.Data), page.Next(), int64(s.MemberCount))
	data.Empty = frame.Empty{Text: "No contact is in this segment."}
	if s.LastEvaluatedAt == nil {
		data.Empty = frame.Empty{Text: "The contacts have not been evaluated for this segment yet. The first evaluation begins within seconds of saving it."}
	}
	return nil
}
