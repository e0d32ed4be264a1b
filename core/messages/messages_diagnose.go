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
	// shownEvents is the maximum number of events that an agent gets, the latest ones.
	shownEvents = 50
	// metadataRoom is the maximum size of the metadata of these events together, in bytes.
	// clippedTo is the longest text in it, in characters.
	metadataRoom = 10 << 10
	clippedTo    = 300
)

// DiagnoseMessageIn names the message.
type DiagnoseMessageIn struct {
	MessageID string `json:"message_id" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"Id of the message."`

	found  Message
	events []Event
	// suppressed is the account's answer about the recipient, nil when the account was not
	// asked.
	suppressed *suppressionAnswer
}

type suppressionAnswer struct {
	entry *SuppressedRecipient
	err   error
}

// Outcome is the outcome of a message, in one word.
type Outcome string

// The outcomes.
const (
	Arrived    Outcome = "arrived"
	Complained Outcome = "complained"
	Bounced    Outcome = "bounced"
	NotSent    Outcome = "not_sent"
	Delayed    Outcome = "delayed"
	Underway   Outcome = "underway"
	// Silent means that no event was reported for longer than is usual.
	Silent Outcome = "silent"
)

// Diagnosis is the outcome of a message and its cause. For several recipients, it is about
// the one with the worst outcome.
type Diagnosis struct {
	// Message is a [Record]. Its schema is described only once in a list of tools, in
	// messages_search.
	Message     any          `json:"message" voice:"untrusted" jsonschema:"type=object"`
	Outcome     Outcome      `json:"outcome" jsonschema:"enum=arrived,enum=complained,enum=bounced,enum=not_sent,enum=delayed,enum=underway,enum=silent"`
	Text        string       `json:"diagnosis" voice:"ours"`
	Evidence    []Claim      `json:"evidence" jsonschema_description:"What the diagnosis rests on."`
	NextSteps   []NextStep   `json:"next_steps"`
	Events      []ShownEvent `json:"events" jsonschema_description:"The latest 50 events, oldest first."`
	EventsTotal int          `json:"events_total"`
	Truncated   bool         `json:"truncated" jsonschema_description:"Whether events or parts of them are left out."`
}

// WasTruncated reports whether events or parts of them are left out.
func (d Diagnosis) WasTruncated() bool { return d.Truncated }

// Claim is one established fact with its evidence.
type Claim struct {
	Text   string   `json:"claim" voice:"ours"`
	Events []string `json:"event_ids,omitempty" voice:"ours" jsonschema_description:"At most ten."`
}

// NextStep is a remedy. Tool and Arguments are set when a call that this caller may make
// carries it out.
type NextStep struct {
	Text      string         `json:"step" voice:"ours"`
	Tool      string         `json:"tool,omitempty" voice:"ours"`
	Arguments map[string]any `json:"arguments,omitempty" voice:"untrusted"`
}

// ShownEvent is an event with what distinguishes it from others of its message.
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
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.MessagesView},
		Prepare: m.prepareDiagnosis,
		Do:      m.diagnose,
	})
}

// prepareDiagnosis asks the account about the recipient, if the caller has the scope. A
// failure of the account becomes part of the diagnosis.
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

// undeliverable returns nil when the address is not listed, and for a caller without the
// scope.
func (m *Messages) undeliverable(ctx context.Context, c *core.Call, address string) (*UndeliverableRecipient, error) {
	if m.Undeliverables == nil || address == "" || !c.Principal.Scopes.Has(core.UndeliverableView) {
		return nil, nil
	}
	return m.Undeliverables.Undeliverable(ctx, c.Principal.Org.ID, address)
}

// showEvents returns the events as an agent sees them, and whether metadata was left out:
// long texts are clipped, and older events of a message with many events lose their
// metadata.
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

// clip returns metadata with its names and texts clipped to clippedTo characters, and
// whether any was longer.
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
