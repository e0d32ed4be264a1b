package dashboard

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
)

// auditEvent is one event as the page shows it.
type auditEvent struct {
	At, Words, Action string
	// ActorKind is said of an actor whose name is not known any more.
	Actor, ActorKind string
	Subject          string
	Detail           []detailLine
}

// detailLine is one thing that an event's detail says.
type detailLine struct {
	Name string
	// Added and Removed are what a list gained and lost, Before and After the two
	// values of something that changed; Value is anything else.
	Added, Removed       []string
	Before, After, Value string
	// Count is how many there are in a list that is too long to show at once.
	Count int
}

// longList is how many things of a list a page shows at once.
const longList = 8

// auditNames are the names of those that the log names by id.
type auditNames struct {
	named  map[string]string
	actors []option // the members, and who is no person
}

func (d *Dashboard) auditNames(ctx context.Context, orgID string) (auditNames, error) {
	names := auditNames{named: map[string]string{orgID: "this organization"}}
	members, err := d.Members.Members(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("members: %w", err)
	}
	for _, m := range members {
		name, err := d.personName(ctx, m.UserID)
		if err != nil {
			return names, err
		}
		names.named[m.UserID] = name
		names.actors = append(names.actors, option{Value: m.UserID, Name: name})
	}
	keys, err := d.Keys.APIKeysOf(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("API keys: %w", err)
	}
	for _, k := range keys {
		names.named[k.ID] = "API key " + k.Name
	}
	clients, err := d.Clients.ClientsOf(ctx, orgID)
	if err != nil {
		return names, fmt.Errorf("clients: %w", err)
	}
	for _, c := range clients {
		names.named[c.ID] = "application " + c.Name
	}
	names.named[access.Operator], names.named["mailhelm"] = "the operator", "Mailhelm itself"
	names.actors = append(names.actors, option{Value: access.Operator, Name: "The operator"}, option{Value: "mailhelm", Name: "Mailhelm itself"})
	return names, nil
}

// personName is how the log shows a person, "" for one that is not there.
func (d *Dashboard) personName(ctx context.Context, userID string) (string, error) {
	user, err := d.Users.UserByID(ctx, userID)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("person in the log: %w", err)
	}
	if user.Name == "" || user.Name == user.Email {
		return user.Email, nil
	}
	return plainName(user.Name) + " (" + user.Email + ")", nil
}

func (n auditNames) options(chosen string) []option {
	return chooseOption(slices.Clone(n.actors), chosen)
}

// chooseOption marks one; a value that is not among them is added, so that the
// form shows what the page was asked.
func chooseOption(options []option, chosen string) []option {
	known := chosen == ""
	for i := range options {
		if options[i].Value == chosen {
			options[i].Chosen, known = true, true
		}
	}
	if !known {
		options = append(options, option{Value: chosen, Name: chosen, Chosen: true})
	}
	return options
}

// auditEvent puts an event into words. Who acted as a person in this organization
// once is named also after they left.
func (d *Dashboard) auditEvent(ctx context.Context, names auditNames, e access.AuditEvent) (auditEvent, error) {
	shown := auditEvent{
		At: e.OccurredAt.Format("2006-01-02 15:04:05"), Words: actionWords[e.Action], Action: e.Action,
		Actor: names.named[e.ActorID], Detail: detailLines(e.Detail),
	}
	if shown.Actor == "" && e.ActorKind == "user" {
		name, err := d.personName(ctx, e.ActorID)
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

// detailLines reads an event's detail, whatever it holds: added and removed
// together, what changed from one value to another, and the rest that has a value
// by name.
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
		lines = append(lines, detailLine{Before: plainValue(before), After: plainValue(after)})
		delete(object, "before")
		delete(object, "after")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if string(object[name]) == `""` {
			continue // the event says nothing of it
		}
		line := detailLine{Name: strings.ReplaceAll(name, "_", " ")}
		var change struct{ Before, After json.RawMessage }
		if json.Unmarshal(object[name], &change) == nil && change.Before != nil && change.After != nil {
			line.Before, line.After = plainValue(change.Before), plainValue(change.After)
		} else {
			line.Value = plainValue(object[name])
			var list []string
			if readList(object[name], &list) && len(list) > longList {
				line.Count = len(list)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func readList(raw json.RawMessage, into *[]string) bool {
	return raw != nil && json.Unmarshal(raw, into) == nil
}

// plainValue is a JSON value for people: text without quotes, a list with commas,
// a truth as yes or no.
func plainValue(raw json.RawMessage) string {
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
