package workflows

import (
	"context"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// statuses are the statuses of workflows in words.
var statuses = map[workflows.Status]wording.State{
	workflows.Active: {Name: "Active", Mark: "good"}, workflows.Paused: {Name: "Paused", Mark: ""}, workflows.Invalid: {Name: "Invalid", Mark: "ended"},
	workflows.Draft: {Name: "Draft", Mark: "test"}, workflows.Archived: {Name: "Archived", Mark: "test"},
}

// statusOrder has the statuses of workflows in the order in which pages show them.
var statusOrder = []workflows.Status{workflows.Active, workflows.Paused, workflows.Invalid, workflows.Draft, workflows.Archived}

// named is a thing with a link to its page. The path is "" if there is no page, or if the
// visitor may not open it.
type named struct{ Path, Name string }

// link returns a link to a record of another room. area is the path of the room's list.
func (h *Room) link(v people.Visitor, area, id, name string) named {
	n := named{Name: frame.PlainName(name)}
	if h.MayOpen(v, area) {
		n.Path = area + "/" + url.PathEscape(id)
	}
	return n
}

// contactOf returns the link to a contact. names has the addresses of contacts by id.
func (h *Room) contactOf(v people.Visitor, id string, names map[string]string) named {
	if names[id] == "" {
		return named{Name: "a deleted contact"}
	}
	return h.link(v, contactsPath, id, names[id])
}

// namesOf returns the addresses of the contacts of runs, by id.
func (h *Room) namesOf(ctx context.Context, v people.Visitor, runs []workflows.Run) (map[string]string, error) {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ContactID)
	}
	return h.Editor.Runs.ContactNames(ctx, v.Org.ID, ids)
}

// count returns a number with commas between thousands.
func count(n int) string { return core.WithCommas(n) }

// pathOf returns the path of a page of a workflow.
func pathOf(w workflows.Workflow, page string) string {
	return Path + "/" + url.PathEscape(w.ID) + page
}

// causeOf says why a contact entered.
func causeOf(r workflows.Run) string {
	source := frame.Quoted(r.SourceKey)
	switch r.Cause {
	case workflows.SegmentEntered:
		return "came into the segment " + source
	case workflows.ActivityTriggered:
		return "did the activity " + source
	case workflows.EventTriggered:
		return "had the event " + source
	case workflows.DateReached:
		return "reached the date in " + source
	case workflows.BackEnrolled:
		return "was there before the activation, by " + source
	}
	return "entered by " + source
}
