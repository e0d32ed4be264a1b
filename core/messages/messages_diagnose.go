package messages

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

const (
	// shownEvents is the maximum number of events in a diagnosis; it shows the latest ones.
	shownEvents = 50
	// metadataRoom is the maximum size of the metadata of all events in a diagnosis, in
	// bytes. clippedTo is the maximum length of one text in the metadata, in characters.
	metadataRoom = 10 << 10
	clippedTo    = 300
)

// DiagnoseMessageIn names the message.
type DiagnoseMessageIn struct {
	MessageID string `json:"message_id" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"The provider's id of the message: id in the items of messages_search."`

	found  Message
	events []Event
	// suppressed is the result of looking up the recipient on the account's suppression
	// list. It is nil if the list was not queried.
	suppressed *suppressionAnswer
}

type suppressionAnswer struct {
	entry *SuppressedRecipient
	err   error
}

// Outcome is the outcome of a message in one word, such as "arrived".
type Outcome string

// The outcomes.
const (
	Arrived    Outcome = "arrived"
	Complained Outcome = "complained"
	Bounced    Outcome = "bounced"
	NotSent    Outcome = "not_sent"
	Delayed    Outcome = "delayed"
	Underway   Outcome = "underway"
	// Silent means that no event was reported for longer than usual, so the outcome is
	// unknown.
	Silent Outcome = "silent"
)

// Diagnosis explains the outcome of a message. If the message has several recipients, the
// diagnosis is about the recipient with the worst outcome.
type Diagnosis struct {
	// Message holds a [Record]. It has the type any so that the list of tools contains the
	// schema of a Record only once, in messages_search.
	Message     any          `json:"message" voice:"untrusted" jsonschema:"type=object"`
	Outcome     Outcome      `json:"outcome" jsonschema:"enum=arrived,enum=complained,enum=bounced,enum=not_sent,enum=delayed,enum=underway,enum=silent"`
	Text        string       `json:"diagnosis" voice:"ours"`
	Evidence    []Claim      `json:"evidence" jsonschema_description:"What the diagnosis rests on."`
	NextSteps   []NextStep   `json:"next_steps"`
	Events      []ShownEvent `json:"events" jsonschema_description:"The latest 50 events, oldest first."`
	EventsTotal int          `json:"events_total"`
	Truncated   bool         `json:"truncated" jsonschema_description:"Whether events or parts of them are left out."`
}

// WasTruncated reports whether events or parts of events were left out.
func (d Diagnosis) WasTruncated() bool { return d.Truncated }

// Claim is one established fact, with the ids of the events that prove it.
type Claim struct {
	Text   string   `json:"claim" voice:"ours"`
	Events []string `json:"event_ids,omitempty" voice:"ours" jsonschema_description:"At most ten."`
}

// NextStep is a suggested action. Tool and Arguments are set if a tool call carries it out
// and the caller has the scopes for that call.
type NextStep struct {
	Text      string         `json:"step" voice:"ours"`
	Tool      string         `json:"tool,omitempty" voice:"ours"`
	Arguments map[string]any `json:"arguments,omitempty" voice:"untrusted"`
}

// ShownEvent is an event as a diagnosis shows it, without the details of the message.
type ShownEvent struct {
	ID         string         `json:"id" voice:"ours"`
	Type       EventType      `json:"type" voice:"ours"`
	OccurredAt time.Time      `json:"occurred_at"`
	Recipient  string         `json:"recipient,omitempty" voice:"untrusted"`
	Metadata   map[string]any `json:"metadata,omitempty" voice:"untrusted"`
}

func (m *Messages) messagesDiagnose() core.Operation {
	return core.Declare(core.Op[DiagnoseMessageIn, Diagnosis]{
		Name:  "messages_diagnose",
		Title: "Diagnose a message",
		Purpose: "Explains why a message arrived or did not. " +
			"Use it when mail is missing. " +
			"Returns the diagnosis, evidence, next steps and latest events. It does not resend.",
		Example: `{"message_id": "0107019a4c1f2d33-6b1f0c52-7f5e-4f7e-9d4b-2f8a3c1e5d60-000000"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.MessagesView},
		Fails:   []core.Code{core.CodeNotFound},
		Prepare: m.prepareDiagnosis,
		Do:      m.diagnose,
	})
}

// prepareDiagnosis loads the message and its events. If the caller has the scope
// api.suppressions.view, it also looks up the recipient with the worst outcome on the
// account's suppression list. If that lookup fails, the diagnosis says so instead of
// failing.
func (m *Messages) prepareDiagnosis(ctx context.Context, c *core.Call, in DiagnoseMessageIn) (DiagnoseMessageIn, error) {
	var err error
	if in.found, in.events, err = m.history(ctx, c, in.MessageID); err != nil {
		return in, err
	}
	if recipient := worstCourse(coursesOf(in.found, in.events)).recipient; m.Suppressions != nil && recipient != "" && c.Principal.Scopes.Has(core.SuppressionsView) {
		entry, err := m.Suppressions.FindSuppressed(ctx, c.Principal.Org.ID, recipient)
		in.suppressed = &suppressionAnswer{entry, err}
	}
	return in, nil
}

func (m *Messages) diagnose(ctx context.Context, c *core.Call, in DiagnoseMessageIn) (Diagnosis, error) {
	courses := coursesOf(in.found, in.events)
	course := worstCourse(courses)
	course.hide = mask.For(c, recipientsOf(in.found, in.events)...)
	course.message, course.now, course.of = in.found, c.Now, len(courses)
	judged := course.judge()

	evidence := slices.Concat(tally(courses), course.claims(), in.suppressed.claims())
	listed, err := m.undeliverable(ctx, c, course.recipient)
	if err != nil {
		return Diagnosis{}, err
	}
	evidence = slices.Concat(evidence, undeliverableClaims(listed), withheldClaims(c, course.recipient))
	records := []Record{recordOf(in.found, course.hide)}
	if err := m.nameChannels(ctx, c, records); err != nil {
		return Diagnosis{}, err
	}
	remedies := slices.Concat(judged.remedies, in.suppressed.remedies())
	latest := in.events[max(0, len(in.events)-shownEvents):]
	events, cut := showEvents(latest, course.hide)
	return Diagnosis{
		Message: records[0],
		Outcome: judged.outcome, Text: course.subject() + judged.text,
		Evidence: evidence, NextSteps: course.steps(c, remedies),
		Events: events, EventsTotal: len(in.events), Truncated: cut || len(latest) < len(in.events),
	}, nil
}

// undeliverable returns the entry of address on the undeliverable list. It returns nil if
// the address is not listed or the caller lacks the scope to read the list.
func (m *Messages) undeliverable(ctx context.Context, c *core.Call, address string) (*UndeliverableRecipient, error) {
	if m.Undeliverables == nil || address == "" || !c.Principal.Scopes.Has(core.UndeliverableView) {
		return nil, nil
	}
	return m.Undeliverables.Undeliverable(ctx, c.Principal.Org.ID, address)
}

// showEvents returns the events as an agent sees them, and whether any metadata was clipped
// or left out. From the latest event backwards, it includes metadata until metadataRoom is
// used up.
func showEvents(events []Event, hide mask.Mask) ([]ShownEvent, bool) {
	all, cut, room := make([]ShownEvent, len(events)), false, metadataRoom
	for i, e := range slices.Backward(events) {
		all[i] = ShownEvent{ID: e.ID, Type: e.Type, OccurredAt: e.OccurredAt}
		if e.Recipient != "" {
			all[i].Recipient = hide.Address(e.Recipient)
		}
		metadata, clipped := clip(eventRecordOf(e, hide).Metadata)
		if encoded, err := json.Marshal(metadata); err != nil || len(encoded) > room {
			room, cut = 0, true
			continue
		} else if metadata != nil {
			all[i].Metadata, room = metadata, room-len(encoded)
		}
		cut = cut || clipped
	}
	return all, cut
}

// clip returns metadata in which every name and text is cut to clippedTo characters. It
// also reports whether any was longer.
func clip(metadata map[string]any) (map[string]any, bool) {
	cut := false
	text := func(s string) string {
		if utf8.RuneCountInString(s) <= clippedTo {
			return s
		}
		cut = true
		return string([]rune(s)[:clippedTo-1]) + "…"
	}
	clipped, _ := mask.EachText(metadata, text).(map[string]any)
	return clipped, cut
}

func formatInstant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
