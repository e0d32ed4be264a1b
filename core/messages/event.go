package messages

import (
	"context"
	"encoding/json"
	"time"
)

// EventType is the provider's name for a kind of event.
type EventType string

// The event types. A message's status is one of all but Subscription.
const (
	Send             EventType = "Send"
	Delivery         EventType = "Delivery"
	Bounce           EventType = "Bounce"
	Complaint        EventType = "Complaint"
	Reject           EventType = "Reject"
	Open             EventType = "Open"
	Click            EventType = "Click"
	DeliveryDelay    EventType = "DeliveryDelay"
	RenderingFailure EventType = "RenderingFailure"
	Subscription     EventType = "Subscription"
)

// Event is one event of one message and, if the provider names one, of one recipient.
type Event struct {
	// ID is derived from the event's content. The same event has the same id each time and
	// in every envelope.
	ID         string
	MessageID  string // the provider's
	Type       EventType
	OccurredAt time.Time
	// Recipient is the address that the event is about, as the provider spells it.
	Recipient string
	// Metadata is a JSON object with further details, or nil.
	Metadata json.RawMessage
	// Bounced is set on a Bounce alone.
	Bounced *BounceKind
	// ComplaintSubType is the provider's sub type of a Complaint, "" for a complaint by a
	// person.
	ComplaintSubType string
	// Mail is the message, which every event repeats.
	Mail Mail
}

// SentAt returns the time when the message was sent. If that is unknown, it returns the
// event's own time.
func (e *Event) SentAt() time.Time {
	if e.Mail.SentAt.IsZero() {
		return e.OccurredAt
	}
	return e.Mail.SentAt
}

// BounceKind says whether a bounce is final: "Permanent", "Transient" or "Undetermined",
// with the provider's sub type.
type BounceKind struct{ Type, SubType string }

// OnAccountList is the sub type of a bounce or complaint without a delivery attempt. The
// address was on the account's own suppression list, and the provider sent nothing.
const OnAccountList = "OnAccountSuppressionList"

// IsKeptBack reports whether the provider sent nothing because the address is on the
// account's own list.
func (e *Event) IsKeptBack() bool {
	return e.ComplaintSubType == OnAccountList || e.Bounced != nil && e.Bounced.SubType == OnAccountList
}

// The types of bounces.
const (
	PermanentBounce    = "Permanent"
	TransientBounce    = "Transient"
	UndeterminedBounce = "Undetermined"
)

// Mail is what an event says about its message.
type Mail struct {
	From    string // the address in From, without a name
	To      []string
	SentAt  time.Time
	Subject string // "" when the provider does not say
	// Template and Channel are names at the provider; "" for none.
	Template string
	Channel  string
	// Test is true for a test message. Test messages are stored and not counted.
	Test bool
}

// Recorder computes figures from events. ObserveEvents is called inside the transaction that
// stores new events, once for each event, even if the event arrived several times. It takes
// part in the transaction: figures and events agree, or neither is stored. The events are in
// no particular order.
type Recorder interface {
	ObserveEvents(ctx context.Context, orgID string, events []Event) error
}
