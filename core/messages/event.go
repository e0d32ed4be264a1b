package messages

import (
	"context"
	"encoding/json"
	"time"
)

// EventType is a kind of event, such as Bounce, in the provider's spelling.
type EventType string

// The event types. Each except Subscription can be the status of a message.
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

// EventTypes returns all event types.
func EventTypes() []EventType {
	return []EventType{Send, Delivery, Bounce, Complaint, Reject, Open, Click, DeliveryDelay, RenderingFailure, Subscription}
}

// Event is one event of one message. If the provider names a recipient, the event is about
// this recipient alone.
type Event struct {
	// ID is derived from the event's content. An event that arrives again, also by another
	// transport such as SNS or EventBridge, has the same id.
	ID         string
	MessageID  string // the provider's
	Type       EventType
	OccurredAt time.Time
	// Recipient is the address that the event is about, as the provider spells it; "" if the
	// provider names none.
	Recipient string
	// Metadata is a JSON object with further details, or nil.
	Metadata json.RawMessage
	// Bounced is the kind of a Bounce; nil for other types of events.
	Bounced *BounceKind
	// ComplaintSubType is the provider's sub type of a Complaint. It is "" if a recipient
	// complained.
	ComplaintSubType string
	// Mail describes the message. The provider repeats it in every event.
	Mail Mail
}

// SentAt returns the time when the message was sent. If that time is unknown, it returns
// the time of the event.
func (e *Event) SentAt() time.Time {
	if e.Mail.SentAt.IsZero() {
		return e.OccurredAt
	}
	return e.Mail.SentAt
}

// BounceKind is the type of a bounce ("Permanent", "Transient" or "Undetermined") and the
// provider's sub type. Only a permanent bounce is final.
type BounceKind struct{ Type, SubType string }

// OnAccountList is the sub type of a bounce or complaint without a delivery attempt. The
// provider sends nothing to addresses on the account's own suppression list.
const OnAccountList = "OnAccountSuppressionList"

// IsKeptBack reports whether the provider sent nothing because the address is on the
// account's own suppression list.
func (e *Event) IsKeptBack() bool {
	return e.ComplaintSubType == OnAccountList || e.Bounced != nil && e.Bounced.SubType == OnAccountList
}

// The types of bounces.
const (
	PermanentBounce    = "Permanent"
	TransientBounce    = "Transient"
	UndeterminedBounce = "Undetermined"
)

// Mail describes a message. Every event of a message contains the same description.
type Mail struct {
	From    string // sender's address, without a display name
	To      []string
	SentAt  time.Time
	Subject string // "" if the provider does not report it
	// Template and Channel are the provider's names of the template and the configuration
	// set; "" if the message has none.
	Template string
	Channel  string
	// Send and SendRecipient are the values of [core.SendTag] and [core.RecipientTag]; "" for a
	// message that Mailhelm did not pass to the account.
	Send, SendRecipient string
	// Test is true for a test message. Test messages are stored but not counted in
	// statistics.
	Test bool
}

// Recorder computes statistics from events. ObserveEvents is called inside the transaction
// that stores new events, once for each event, even if the event arrived several times. If
// it fails, the transaction is rolled back and the events are not stored. The events are in
// no particular order.
type Recorder interface {
	ObserveEvents(ctx context.Context, orgID string, events []Event) error
}
