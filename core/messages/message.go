package messages

import "time"

// Message is one message that the account accepted.
type Message struct {
	ID string
	// From is the sender, To the first recipient; other recipients are found by their own
	// address.
	From, To string
	// Identity is the domain of From in lower case.
	Identity string
	SentAt   time.Time
	// Status is the event type with the highest [Rank].
	Status      EventType
	LastEventAt time.Time
	// Channel, Subject and Template are "" when the provider did not say.
	Channel, Subject, Template string
	Test                       bool
}

// Rank orders statuses: the event with the highest rank is the status of its message. Types
// that are not a status have rank 0. The messages table stores ranks, so a change needs a
// migration.
func Rank(t EventType) int {
	switch t {
	case Complaint:
		return 8
	case Bounce:
		return 7
	case Reject:
		return 6
	case Click:
		return 5
	case Open:
		return 4
	case Delivery:
		return 3
	case DeliveryDelay:
		return 2
	case RenderingFailure:
		return 1
	default:
		return 0
	}
}
