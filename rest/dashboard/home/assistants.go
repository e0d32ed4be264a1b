package home

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

const (
	// todaysEvents is the number of audit events of today that the overview counts.
	todaysEvents = 1000
	// shownActors and shownActions are the numbers of programs, and of their actions, that
	// the overview names.
	shownActors  = 6
	shownActions = 4
)

// today is the data of what assistants and programs changed today. Problem says why it
// cannot be read, or "".
type today struct {
	Problem string
	Actors  []actor
	// More is true if there were more events than the overview counts.
	More bool
	// All is the page with all events of today. Assistants is the page about assistants, ""
	// if there is none.
	All, Assistants string
}

// actor is an application or an API key with the number of its changes.
type actor struct {
	Name, Path string
	Writes     int
	Actions    string
}

// readToday counts the changes of assistants and programs since midnight, from the audit
// log. It returns nil if the visitor may not view the audit log.
func (h *Home) readToday(r *http.Request, v people.Visitor) *today {
	if !v.Member.Has(members.MayViewAudit) {
		return nil
	}
	start := dayStart(h.Clock())
	audit := frame.Path + "/audit"
	shown := &today{All: audit + "?" + url.Values{"from": {start.Format(frame.DateLayout)}}.Encode()}
	if path := frame.Path + "/assistants"; h.MayOpen(v, path) {
		shown.Assistants = path
	}
	events, err := h.Audit.FindAudit(r.Context(), v.Org.ID, access.AuditFilter{From: start, Limit: todaysEvents})
	if err == nil {
		shown.Actors, err = h.actorsOf(r, v, events)
	}
	if err != nil {
		shown.Problem = core.AsError(err).Message
		return shown
	}
	shown.More = len(events) == todaysEvents
	return shown
}

// actorsOf returns the programs with the most changes first.
func (h *Home) actorsOf(r *http.Request, v people.Visitor, events []access.AuditEvent) ([]actor, error) {
	counts := map[string]map[string]int{}
	for _, e := range events {
		if e.ActorKind != string(core.OAuthClient) && e.ActorKind != string(core.APIKey) {
			continue
		}
		if counts[e.ActorID] == nil {
			counts[e.ActorID] = map[string]int{}
		}
		counts[e.ActorID][e.Action]++
	}
	if len(counts) == 0 {
		return nil, nil
	}
	names, err := h.programNames(r, v)
	if err != nil {
		return nil, err
	}
	var actors []actor
	for id, actions := range counts {
		a := actor{Name: cmp.Or(names[id], id), Path: frame.Path + "/audit?" + url.Values{"actor": {id}}.Encode(), Actions: actionsOf(actions)}
		for _, n := range actions {
			a.Writes += n
		}
		a.Name = frame.PlainName(a.Name)
		actors = append(actors, a)
	}
	slices.SortFunc(actors, func(a, b actor) int {
		return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	return actors[:min(shownActors, len(actors))], nil
}

// programNames returns the names of API keys and applications by id.
func (h *Home) programNames(r *http.Request, v people.Visitor) (map[string]string, error) {
	keys, err := h.Keys.APIKeysOf(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	clients, err := h.Clients.ClientsOf(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	names := map[string]string{}
	for _, k := range keys {
		names[k.ID] = "API key " + k.Name
	}
	for _, c := range clients {
		names[c.ID], names[c.ClientID] = c.Name, c.Name
	}
	return names, nil
}

// actionsOf returns the most frequent actions with their counts, as one text.
func actionsOf(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	text := ""
	for i, name := range names {
		if i == shownActions {
			return text + " and others"
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", frame.PlainName(name), counts[name])
	}
	return text
}
