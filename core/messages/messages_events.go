package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

// EventRecord is an event of a message as a caller sees it.
type EventRecord struct {
	Type       EventType `json:"type" jsonschema:"enum=Send,enum=Delivery,enum=Bounce,enum=Complaint,enum=Reject,enum=Open,enum=Click,enum=DeliveryDelay,enum=RenderingFailure,enum=Subscription"`
	OccurredAt time.Time `json:"occurred_at"`
	// Metadata is the JSON object of event details. Its members depend on the type of the
	// event; members unknown to Mailhelm are included.
	Metadata map[string]any `json:"metadata,omitempty" voice:"untrusted" jsonschema_description:"Details of the event from the provider; absent without any."`
}

func (m *Messages) messagesEvents() core.Operation {
	return core.Declare(core.Op[GetMessageIn, core.Collection[EventRecord]]{
		Name:    "messages_events",
		Title:   "List the events of a message",
		Purpose: "Lists all events that the provider reported about one message, oldest first. Addresses in their texts are masked without `api.messages.unmask_recipients`.",
		Example: `{"id": "0107019a4c1f2d33-6b1f0c52-7f5e-4f7e-9d4b-2f8a3c1e5d60-000000"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.MessagesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      m.listEvents,
	})
}

func (m *Messages) listEvents(ctx context.Context, c *core.Call, in GetMessageIn) (core.Collection[EventRecord], error) {
	var none core.Collection[EventRecord]
	found, events, err := m.history(ctx, c, in.ID)
	if err != nil {
		return none, err
	}
	hide := mask.For(c, recipientsOf(found, events)...)
	records := make([]EventRecord, len(events))
	for i, e := range events {
		records[i] = eventRecordOf(e, hide)
	}
	return core.Collection[EventRecord]{Data: records}, nil
}

// history returns a message and its events, oldest first. It fails with core.CodeNotFound
// if the message is unknown, is older than core.StoredDays days, or has no events.
func (m *Messages) history(ctx context.Context, c *core.Call, id string) (Message, []Event, error) {
	found, err := m.find(ctx, c, id)
	if err != nil {
		return Message{}, nil, err
	}
	events, err := m.Store.MessageEvents(ctx, c.Principal.Org.ID, id)
	if err == nil && len(events) == 0 {
		err = messageNotFound()
	}
	return found, events, err
}

// eventRecordOf returns the event as a caller sees it, with addresses masked by hide. It
// omits the metadata of a Send.
func eventRecordOf(e Event, hide mask.Mask) EventRecord {
	r := EventRecord{Type: e.Type, OccurredAt: e.OccurredAt}
	if e.Type != Send {
		r.Metadata = hide.Metadata(e.Metadata)
	}
	return r
}
