package domainauth

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// Event is an event of the timeline of a domain.
type Event struct {
	ID         string          `json:"id" voice:"ours"`
	Kind       timeline.Kind   `json:"kind" jsonschema:"enum=policy_change,enum=setup_change,enum=source_decisions,enum=acknowledgement,enum=note"`
	Origin     timeline.Origin `json:"origin,omitempty" jsonschema:"enum=dns,enum=reports" jsonschema_description:"How a change of a record became known; absent for what people did."`
	OccurredAt time.Time       `json:"occurred_at" jsonschema_description:"When it happened, as far as the evidence shows."`
	ObservedAt time.Time       `json:"observed_at" jsonschema_description:"When Mailhelm first knew of it."`
	Sightings  int             `json:"sightings" jsonschema_description:"How many polls and reporters saw the change."`
	OldRecord  *string         `json:"old_record" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Record before the change, as published; null if there was none."`
	NewRecord  *string         `json:"new_record" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Record after the change; null if there is none."`
	Title      string          `json:"title" voice:"untrusted"`
	Note       *string         `json:"note" voice:"untrusted" jsonschema:"nullable"`

	Subject string `json:"-"`
}

// plain returns the event as the rules have it.
func (e Event) plain() timeline.Event {
	return timeline.Event{
		ID: e.ID, Kind: e.Kind, Origin: e.Origin, Subject: e.Subject, OccurredAt: e.OccurredAt, ObservedAt: e.ObservedAt,
		Sightings: e.Sightings, Old: e.OldRecord, New: e.NewRecord,
	}
}

// EventFilter selects events. Empty fields select all.
type EventFilter struct {
	From, To *time.Time
	Kind     timeline.Kind
	After    *core.After
	Limit    int
}

// ListEventsIn has the filters and page parameters of a timeline.
type ListEventsIn struct {
	DomainIn
	From   *time.Time    `json:"from,omitempty" jsonschema_description:"Only events that occurred at this time or later."`
	To     *time.Time    `json:"to,omitempty" jsonschema_description:"Only events that occurred before this time."`
	Kind   timeline.Kind `json:"kind,omitempty" jsonschema:"enum=policy_change,enum=setup_change,enum=source_decisions,enum=acknowledgement,enum=note" jsonschema_description:"Only events of this kind."`
	Limit  int           `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string        `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *DomainAuth) timelineList() core.Operation {
	return core.Declare(core.Op[ListEventsIn, core.Page[Event]]{
		Name:    "domain_auth_timeline_list",
		Title:   "List the events of a domain",
		Purpose: "Pages through what changed at a domain, newest first: its DMARC, SPF and DKIM records, decisions about sources, acknowledgements and notes.",
		Example: `{"domain": "example.com", "kind": "policy_change"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.listEvents,
	})
}

func (a *DomainAuth) listEvents(ctx context.Context, c *core.Call, in ListEventsIn) (core.Page[Event], error) {
	if in.From != nil && in.To != nil && !in.From.Before(*in.To) {
		return core.Page[Event]{}, core.Invalid("from", "is not before `to`")
	}
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return core.Page[Event]{}, err
	}
	org, f := c.Principal.Org.ID, EventFilter{From: in.From, To: in.To, Kind: in.Kind}
	filter := fmt.Sprintf("domain_auth events %s %s %s %q", d.ID, boundText(in.From), boundText(in.To), in.Kind)
	page, err := core.ReadPage(filter, in.Cursor, in.Limit, func(after *core.After, limit int) ([]Event, error) {
		f := f
		f.After, f.Limit = after, limit
		return a.Timeline.Events(ctx, org, d.ID, f)
	}, func(e Event) core.After { return core.After{At: e.OccurredAt, ID: e.ID} })
	if err != nil {
		return page, err
	}
	page.Total, err = a.Timeline.CountEvents(ctx, org, d.ID, f)
	return page, err
}

// CreateNoteIn has a note for the timeline.
type CreateNoteIn struct {
	DomainIn
	Note       string     `json:"note" jsonschema:"minLength=1,maxLength=2000" jsonschema_description:"Text of the note."`
	OccurredAt *time.Time `json:"occurred_at,omitempty" jsonschema_description:"When what it describes happened. Default: now."`
}

func (a *DomainAuth) notesCreate() core.Operation {
	return core.Declare(core.Op[CreateNoteIn, Event]{
		Name:    "domain_auth_notes_create",
		Title:   "Write a note into the timeline of a domain",
		Purpose: "Adds a note to the timeline of a domain, for example that a service was set up. Returns its event. It changes no record. It needs a person: a token of an application that acts for itself is refused.",
		Example: `{"domain": "example.com", "note": "The newsletter moved to another service."}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.DomainAuthManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.createNote,
	})
}

func (a *DomainAuth) createNote(ctx context.Context, c *core.Call, in CreateNoteIn) (Event, error) {
	who, err := personOf(c.Principal)
	if err != nil {
		return Event{}, err
	}
	if strings.TrimSpace(in.Note) == "" {
		return Event{}, core.Invalid("note", "is empty")
	}
	e := Event{ID: core.NewID(), Kind: timeline.Note, OccurredAt: c.Now, ObservedAt: c.Now, Title: "Note", Note: &in.Note}
	if in.OccurredAt != nil {
		e.OccurredAt = in.OccurredAt.UTC().Truncate(time.Microsecond)
		if e.OccurredAt.After(c.Now) || e.OccurredAt.Before(keptFrom(c.Now)) {
			return Event{}, core.Invalid("occurred_at", "must be in the past, and not more than two years ago")
		}
	}
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return Event{}, err
	}
	c.SetSubject(e.ID)
	return e, a.Timeline.InsertEvent(ctx, c.Principal.Org.ID, d.ID, e, who)
}
