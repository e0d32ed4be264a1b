package contacts

import (
	"context"
	"net/http"
	"net/url"

	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// shownSegments is the number of segments that one page explains.
const shownSegments = 10

// why is a page of the segments with the contact's standing in each.
type why struct {
	Rows    []standingRow
	Missing string // why the page cannot say it, or ""
	All     string // the path of the page with all segments, "" if these are all
	Total   int
	None    frame.Empty // in place of the segments
}

// standingRow is the data of one segment.
type standingRow struct {
	Path             string // of the segment's page
	Name, Key, About string
	Member           bool
	Since            frame.When
	// Note says what will change at the next evaluation, or why the segment is not evaluated.
	Note string
	Part *partView
}

// partView is the data of a part of a predicate with its result.
type partView struct {
	Text, Value string
	Truth       mark
	// Decides is true for a part that has the result of the whole predicate, and so is a
	// reason for it.
	Decides bool
	Parts   []partView
}

// truthMarks are the marks of results. An unknown result counts as not true.
var truthMarks = map[predicate.Truth]mark{
	predicate.True: {"good", "true"}, predicate.False: {"ended", "false"}, predicate.Unknown: {"test", "unknown"},
}

// readWhy reads the contact's standing in the segments, beginning with the given one.
func (c *Contacts) readWhy(r *http.Request, v people.Visitor, of audience.Contact, from int) why {
	if !v.Member.Has(members.MayViewSegments) {
		return why{Missing: "You need the permission " + string(members.MayViewSegments) + " to see this."}
	}
	if of.Status == audience.Archived {
		return why{Missing: "An archived contact is in no segment."}
	}
	var page []segments.Standing
	shown := why{None: frame.Empty{Text: "The organization has no segments. A segment has the contacts that match a predicate."}}
	if v.Member.Has(members.MayManageSegments) {
		shown.None.Action = &frame.Action{Path: segmentsPath + "/new", Name: "Create segment"}
	}
	err := c.Expensive(r.Context(), v.Org.ID, func(ctx context.Context) error {
		var err error
		page, shown.Total, err = c.Standings.StandingsOf(ctx, v.Org.ID, of.ID, from, shownSegments)
		return err
	})
	if err != nil {
		return why{Missing: frame.TextOf(err)}
	}
	for _, s := range page {
		shown.Rows = append(shown.Rows, c.standingRow(s))
	}
	if from == 0 && shown.Total > len(page) {
		shown.All = pathOf(of.ID) + "/segments"
	}
	return shown
}

// standingRow returns the data of a segment.
func (c *Contacts) standingRow(s segments.Standing) standingRow {
	row := standingRow{Path: segmentsPath + "/" + url.PathEscape(s.Segment.ID), Name: frame.PlainName(s.Segment.Name), Key: s.Segment.Key, About: frame.PlainName(s.Segment.Description), Member: s.Since != nil}
	if row.Member {
		row.Since = c.When(*s.Since)
	}
	row.Note = noteOf(s)
	if s.Why != nil {
		part := viewOf(*s.Why, true)
		row.Part = &part
	}
	return row
}

// noteOf returns what will change, or why nothing changes. It returns "" if the membership
// is as the predicate says.
func noteOf(s segments.Standing) string {
	matches, member := s.Why != nil && s.Why.Truth == predicate.True, s.Since != nil
	switch {
	case s.Segment.Status == segments.Paused:
		return "The segment is paused, so its members stay as they are."
	case s.Why == nil:
		return "The predicate cannot be evaluated: " + frame.PlainName(s.Segment.EvalWarning)
	case matches && !member:
		return "The contact matches now and enters the segment at the next evaluation."
	case !matches && member:
		return "The contact does not match any more and leaves the segment at the next evaluation."
	}
	return ""
}

// viewOf returns the data of a part and of the parts below it. A part decides if the part
// above decides and has the same result.
func viewOf(f segments.Finding, decides bool) partView {
	view := partView{Text: frame.PlainName(f.Text), Value: frame.PlainName(f.Value), Truth: truthMarks[f.Truth], Decides: decides}
	for _, part := range f.Findings {
		view.Parts = append(view.Parts, viewOf(part, decides && part.Truth == f.Truth))
	}
	return view
}
