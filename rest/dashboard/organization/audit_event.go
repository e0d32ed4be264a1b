package organization

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
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

// auditNames has the names that the page of the audit log shows for people, credentials and
// the organization, by id.
type auditNames struct {
	named  map[string]string
	actors []frame.Option // the actors to filter by: the members, the operator and Mailhelm itself
}

// auditNames reads the names of the members, API keys and OAuth clients that the audit log
// of an organization can mention.
func (h auditHandlers) auditNames(ctx context.Context, orgID string) (auditNames, error) {
	names := auditNames{named: map[string]string{orgID: "this organization"}}
	members, err := h.Members.Members(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("members: %w", err)
	}
	for _, m := range members {
		name, err := h.personName(ctx, m.UserID)
		if err != nil {
			return names, err
		}
		names.named[m.UserID] = name
		names.actors = append(names.actors, frame.Option{Value: m.UserID, Name: name})
	}
	keys, err := h.Keys.APIKeysOf(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("API keys: %w", err)
	}
	for _, k := range keys {
		names.named[k.ID] = "API key " + k.Name
	}
	clients, err := h.Clients.ClientsOf(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("clients: %w", err)
	}
	for _, c := range clients {
		names.named[c.ID] = "application " + c.Name
	}
	names.named[access.Operator], names.named["mailhelm"] = "the operator", "Mailhelm itself"
	names.actors = append(names.actors, frame.Option{Value: access.Operator, Name: "The operator"}, frame.Option{Value: "mailhelm", Name: "Mailhelm itself"})
	return names, nil
}

// personName returns the name and email address of a person, or "" for an unknown id.
func (h auditHandlers) personName(ctx context.Context, userID string) (string, error) {
	user, err := h.Users.UserByID(ctx, userID)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("person in the log: %w", err)
	}
	if user.Name == "" || user.Name == user.Email {
		return user.Email, nil
	}
	return frame.PlainName(user.Name) + " (" + user.Email + ")", nil
}

// options returns the actors that the audit log can be filtered by, with the chosen one
// marked.
func (n auditNames) options(chosen string) []frame.Option {
	return frame.ChooseOption(slices.Clone(n.actors), chosen)
}

// auditEvent returns the data of an audit event for the page. If names does not have the
// name of the acting user, it reads the name from the store and adds it to names. This
// covers people who have left the organization.
func (h auditHandlers) auditEvent(ctx context.Context, names auditNames, e access.AuditEvent) (auditEvent, error) {
	shown := auditEvent{
		At: e.OccurredAt.Format("2006-01-02 15:04:05"), Words: actionWords[e.Action], Action: e.Action,
		Actor: names.named[e.ActorID], Detail: detailLines(e.Detail),
	}
	if shown.Actor == "" && e.ActorKind == "user" {
		name, err := h.personName(ctx, e.ActorID)
		if err != nil {
			return auditEvent{}, err
		}
		names.named[e.ActorID], shown.Actor = name, name
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
