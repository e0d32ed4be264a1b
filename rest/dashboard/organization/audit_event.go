package organization

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// auditEvent is the data of one event on the page of the audit log.
type auditEvent struct {
	At, Words, Action string
	// ActorKind is set only if the name of the actor is unknown. Actor is then the actor's
	// id.
	Actor, ActorKind string
	Subject          string
	Detail           []detailLine
}

// detailLine is the data of one line in the detail of an audit event.
type detailLine struct {
	Name string
	// Added and Removed are the changes of a list. Before and After are the old and new
	// value of a change. Value is the value of a detail that describes no change.
	Added, Removed       []string
	Before, After, Value string
	// Count is the length of a long list, which the page shows folded; 0 for other values.
	Count int
}

// longList is the maximum number of items of a list that the page shows directly. The page
// folds a longer list and shows the number of its items. It never folds the old and new
// items of a change.
const longList = 8

// manyValues is the number of details from which the page folds them.
const manyValues = 4

// Long reports whether the page folds the details. It never folds changes, which have an old
// and a new value.
func (e auditEvent) Long() bool {
	return len(e.Detail) >= manyValues && !slices.ContainsFunc(e.Detail, func(d detailLine) bool {
		return len(d.Added)+len(d.Removed) > 0 || d.Before != "" || d.After != ""
	})
}

// auditNames has the names that the page of the audit log shows for people, credentials and
// the organization.
type auditNames struct {
	*actors.Records

	named map[string]string // by id
	// actors are the actors to filter by: members, API keys, applications, the operator and
	// Mailhelm itself.
	actors []frame.Option
}

// auditNames reads the names of the members, API keys and OAuth clients that the audit log
// of an organization can mention.
func (h auditHandlers) auditNames(ctx context.Context, v people.Visitor) (auditNames, error) {
	names := auditNames{Records: h.Actors.Records(v.Org.ID), named: map[string]string{
		v.Org.ID: "this organization", access.Operator: "the operator", "mailhelm": "Mailhelm itself",
	}}
	members, err := h.Members.Members(ctx, v.Org.ID)
	if err != nil {
		return names, fmt.Errorf("members: %w", err)
	}
	for _, m := range members {
		person, err := names.Person(ctx, m.UserID)
		if err != nil {
			return names, err
		}
		names.named[m.UserID] = person.String()
		names.actors = append(names.actors, frame.Option{Value: m.UserID, Name: person.String()})
	}
	credentials, err := names.Listed(ctx)
	if err != nil {
		return names, err
	}
	programs := make([]frame.Option, 0, len(credentials))
	for id, c := range credentials {
		names.named[id] = c.String()
		programs = append(programs, frame.Option{Value: id, Name: c.String()})
	}
	slices.SortFunc(programs, func(a, b frame.Option) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	names.actors = append(append(names.actors, programs...), frame.Option{Value: access.Operator, Name: "The operator"}, frame.Option{Value: "mailhelm", Name: "Mailhelm itself"})
	return names, nil
}

// actor returns the name of the actor of an event. It also finds people who have left the
// organization, and applications that registered themselves. It returns "" for an unknown
// actor.
func (n auditNames) actor(ctx context.Context, e access.AuditEvent) (string, error) {
	if name := n.named[e.ActorID]; name != "" {
		return name, nil
	}
	switch core.CredentialKind(e.ActorKind) {
	case core.Person:
		person, err := n.Person(ctx, e.ActorID)
		return person.String(), err
	case core.OAuthClient:
		client, err := n.Credential(ctx, e.ActorID)
		return client.String(), err
	}
	return "", nil
}

// options returns the actors that the audit log can be filtered by, with the chosen one
// marked.
func (n auditNames) options(chosen string) []frame.Option {
	return frame.ChooseOption(slices.Clone(n.actors), chosen)
}

// newAuditEvent returns the data of an audit event for the page.
func (h auditHandlers) newAuditEvent(ctx context.Context, names auditNames, e access.AuditEvent) (auditEvent, error) {
	actor, err := names.actor(ctx, e)
	if err != nil {
		return auditEvent{}, err
	}
	shown := auditEvent{
		At: e.OccurredAt.Format("2006-01-02 15:04:05"), Words: h.wordsOf(e.Action), Action: e.Action, Actor: actor, Detail: detailLines(e.Detail),
	}
	if shown.Actor == "" {
		shown.Actor, shown.ActorKind = e.ActorID, actorKinds[e.ActorKind]
	}
	if e.SubjectID != e.ActorID {
		if shown.Subject = names.named[e.SubjectID]; shown.Subject == "" {
			shown.Subject = e.SubjectID
		}
	}
	return shown, nil
}

// detailLines returns the lines of an event's detail, a JSON object. The JSON members
// "added" and "removed" form the first line, "before" and "after" the second. The other
// JSON members follow, sorted by name. Members whose value is an empty text are left out.
// It returns nil for invalid JSON.
func detailLines(detail string) []detailLine {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(detail), &object) != nil {
		return nil
	}
	var lines []detailLine
	var diff detailLine
	if readList(object["added"], &diff.Added) && readList(object["removed"], &diff.Removed) {
		delete(object, "added")
		delete(object, "removed")
		lines = append(lines, diff)
	}
	if before, after := object["before"], object["after"]; before != nil && after != nil {
		lines = append(lines, detailLine{Before: valueText(before), After: valueText(after)})
		delete(object, "before")
		delete(object, "after")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if string(object[name]) == `""` {
			continue // an empty text means that the event has no value under this name
		}
		line := detailLine{Name: strings.ReplaceAll(name, "_", " ")}
		var change struct{ Before, After json.RawMessage }
		if json.Unmarshal(object[name], &change) == nil && change.Before != nil && change.After != nil {
			line.Before, line.After = valueText(change.Before), valueText(change.After)
		} else {
			line.Value = valueText(object[name])
			var list []string
			if readList(object[name], &list) && len(list) > longList {
				line.Count = len(list)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// readList decodes a JSON list of texts. It reports whether raw is such a list.
func readList(raw json.RawMessage, into *[]string) bool {
	return raw != nil && json.Unmarshal(raw, into) == nil
}

// valueText returns a JSON value as text for the page: a string without quotes, a list with
// commas, a boolean as yes or no, and null or an empty list as none.
func valueText(raw json.RawMessage) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal(raw, &text) == nil && !bytes.Equal(raw, []byte("null")):
		return text
	case json.Unmarshal(raw, &list) == nil && len(list) > 0:
		return strings.Join(list, ", ")
	case string(raw) == "true":
		return "yes"
	case string(raw) == "false":
		return "no"
	case string(raw) == "null" || string(raw) == "[]":
		return "none"
	}
	return string(raw)
}
