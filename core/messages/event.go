package messages

import (
	"context"
	"encoding/json"
	"time"
)

// EventType is what happened, by the provider's name for it.
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

// Event is one thing that happened to one message and, where the provider says so,
// to one recipient of it.
type Event struct {
	// ID follows from what the event says, so that the same event has the same id
	// however often and in whatever wrapping it arrives.
	ID         string
	MessageID  string // the provider's
	Type       EventType
	OccurredAt time.Time
	// Recipient is the address that it happened to, as the provider spells it.
	Recipient string
	// Metadata is a JSON object, nil when the event says nothing more.
	Metadata json.RawMessage
	// Bounced is set on a Bounce alone.
	Bounced *BounceKind
	// ComplaintSubType is the provider's finer word for a Complaint, "" for one that
	// somebody made.
	ComplaintSubType string
	// Mail is the message, as every event repeats it.
	Mail Mail
}

// SentAt is when the message was sent. An event that does not say counts as of its own
// time, because nothing happens to a message before it is sent.
func (e *Event) SentAt() time.Time {
	if e.Mail.SentAt.IsZero() {
		return e.OccurredAt
	}
	return e.Mail.SentAt
}

// BounceKind is how final a bounce is: "Permanent", "Transient" or "Undetermined",
// with the provider's finer word for it.
type BounceKind struct{ Type, SubType string }

// OnAccountList is the finer word of a bounce or a complaint that is none of this
// message: an earlier one, or a person, put the address on the account's own list,
// and the provider sent nothing.
const OnAccountList = "OnAccountSuppressionList"

// KeptBack reports whether the provider sent nothing because the address is on the
// account's own list.
func (e *Event) KeptBack() bool {
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
	// Test is true for a message to try something out. Such messages are kept and
	// counted nowhere.
	Test bool
}

// Recorder keeps figures of its own from events. Recorded is called inside the
// transaction that stores new events, once for each event however often it
// arrived, and takes part in it: figures and events agree, or neither is there.
// The order of the events says nothing.
type Recorder interface {
	Recorded(ctx context.Context, orgID string, events []Event) error
}
