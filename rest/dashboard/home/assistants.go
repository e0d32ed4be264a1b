package home

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

const (
	// todaysEvents is the number of audit events of today that the overview counts.
	todaysEvents = 1000
	// shownActors and shownActions are the numbers of programs, and of their actions, that
	// the overview names.
	shownActors  = 6
	shownActions = 4
	// auditPath is the page of the audit log.
	auditPath = frame.Path + "/audit"
)

// today is the data of what assistants and programs changed today. Problem says why it
// cannot be read, or "".
type today struct {
	Problem string
	Actors  []actor
	// More is true if there were more events than the overview counts.
	More bool
	// All is the page with all events of today. Assistants is the page with the calls of
	// assistants.
	All, Assistants string
}

// actor is an application or an API key with the number of its changes.
type actor struct {
	program
	// Audit is the page of the audit log with its changes.
	Audit   string
	Writes  string
	Actions string
}

// program is the name of an application or an API key, and the page about it, or "".
type program struct{ Name, Path string }

// readToday counts the changes of assistants and programs since midnight, from the audit
// log. It returns nil if the visitor may not view the audit log.
func (h *Home) readToday(r *http.Request, v people.Visitor) *today {
	if !v.Member.Has(members.MayViewAudit) {
		return nil
	}
	start := frame.DayStart(h.Clock())
	shown := &today{All: frame.Address(auditPath, frame.Parameters{"from": start.Format(frame.DateLayout)}), Assistants: h.Links.Activity}
	events, err := h.Audit.FindAudit(r.Context(), v.Org.ID, access.AuditFilter{From: start, Limit: todaysEvents})
	if err == nil {
		shown.Actors, err = h.actorsOf(r, v, events)
	}
	if err != nil {
		shown.Problem = h.problemOf(r, v, "changes of today", err)
		return shown
	}
	shown.More = len(events) == todaysEvents
	return shown
}

// actorsOf returns the programs with the most changes first.
func (h *Home) actorsOf(r *http.Request, v people.Visitor, events []access.AuditEvent) ([]actor, error) {
	counts, kinds := map[string]map[string]int{}, map[string]string{}
	for _, e := range events {
		if e.ActorKind != string(core.OAuthClient) && e.ActorKind != string(core.APIKey) {
			continue
		}
		if counts[e.ActorID] == nil {
			counts[e.ActorID], kinds[e.ActorID] = map[string]int{}, e.ActorKind
		}
		counts[e.ActorID][e.Action]++
	}
	sums := map[string]int{}
	for id, actions := range counts {
		for _, n := range actions {
			sums[id] += n
		}
	}
	ids := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	var shown []actor
	records := h.Actors.Records(v.Org.ID)
	for _, id := range ids[:min(shownActors, len(ids))] {
		p, err := h.program(r.Context(), v, records, kinds[id], id)
		if err != nil {
			return nil, err
		}
		shown = append(shown, actor{
			program: p, Audit: frame.Address(auditPath, frame.Parameters{"actor": id}), Writes: core.WithCommas(sums[id]), Actions: actionsOf(counts[id]),
		})
	}
	return shown, nil
}

// program returns the name of the credential of an audit event and the page about it. The
// page of an API key is only for visitors who may manage keys.
func (h *Home) program(ctx context.Context, v people.Visitor, records *actors.Records, kind, id string) (program, error) {
	c, err := records.Credential(ctx, id)
	if err != nil {
		return program{}, err
	}
	switch {
	case c.Kind == core.APIKey && v.Member.Has(members.MayManageCredentials):
		return program{c.String(), h.Links.Keys + "/" + url.PathEscape(id)}, nil
	case c.Kind == core.APIKey:
		return program{Name: c.String()}, nil
	case c.Kind == core.OAuthClient:
		return program{c.Name, frame.Address(h.Links.Activity, frame.Parameters{"client_id": c.ClientID})}, nil
	case kind == string(core.APIKey):
		return program{Name: "An API key that no longer exists"}, nil
	}
	return program{Name: "An application that no longer exists"}, nil
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
