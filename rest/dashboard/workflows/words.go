package workflows

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// state is the status of a workflow or a run in words, with the class of its mark.
type state struct{ Name, Mark string }

// statuses are the statuses of workflows, in the order of statusOrder.
var statuses = map[workflows.Status]state{
	workflows.Active: {"Active", "good"}, workflows.Paused: {"Paused", ""}, workflows.Invalid: {"Invalid", "ended"},
	workflows.Draft: {"Draft", "test"}, workflows.Archived: {"Archived", "test"},
}

var statusOrder = []workflows.Status{workflows.Active, workflows.Paused, workflows.Invalid, workflows.Draft, workflows.Archived}

// runStatuses are the statuses of runs, in the order of runOrder.
var runStatuses = map[engine.Status]state{
	engine.Active: {"Under way", "live"}, engine.Completed: {"Completed", "good"}, engine.Exited: {"Left", "test"}, engine.Failed: {"Failed", "ended"},
}

var runOrder = []engine.Status{engine.Active, engine.Completed, engine.Exited, engine.Failed}

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
func count(n int) string { return frame.WithCommas(int64(n)) }

// pathOf returns the path of a page of a workflow.
func pathOf(w workflows.Workflow, page string) string { return Path + "/" + url.PathEscape(w.ID) + page }

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

// exitWords says how a run ended.
func exitWords(of engine.EventType, kind engine.ExitKind, name string) string {
	switch {
	case of == engine.RunFailed:
		return "A step failed, and its repetitions too"
	case kind == engine.ByName:
		return "Left by the exit " + frame.Quoted(name)
	case kind == engine.ByHoldOut:
		return "Held out as a control group"
	case kind == engine.ByCancel:
		return "A person cancelled a message"
	case kind == engine.ByArchive:
		return "The workflow or the contact was archived"
	case kind == engine.ByStep:
		return "Came to a step “exit”"
	}
	return "Passed the last step"
}

// reasons say why a message was filtered.
var reasons = map[engine.Reason]string{
	engine.Capped: "the contact has got as many messages as the limit allows", engine.Suppressed: "the address is suppressed",
	engine.UnsubscribedAll: "the contact opted out of all mail", engine.OptedOut: "the contact opted out of the topic",
}

// authorOf returns the words for the person or the credential that saved a version.
func authorOf(ctx context.Context, names *actors.Names, by workflows.Author) (string, error) {
	switch core.CredentialKind(by.Kind) {
	case core.Person:
		return names.Person(ctx, by.ID)
	case core.APIKey, core.OAuthClient:
		credential, err := names.Credential(ctx, by.ID, by.UserID)
		if err != nil || by.UserID == "" {
			return credential, err
		}
		person, err := names.Person(ctx, by.UserID)
		return credential + " for " + person, err
	}
	return "the operator", nil
}

// perDayWords returns an average of things a day without superfluous digits.
func perDayWords(n float64) string {
	if n > 0 && n < 0.1 {
		return "less than 0.1"
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// versionWords returns "Version 3".
func versionWords(n int) string { return "Version " + strconv.Itoa(n) }

// moment returns an instant as text, in UTC.
func moment(t time.Time) string { return t.UTC().Format(frame.MomentLayout) }
