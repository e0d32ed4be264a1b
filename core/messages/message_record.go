package messages

import "time"

// Message is one message that the sending account accepted.
type Message struct {
	ID string
	// From is the sender's address, To the address of the first recipient.
	From, To string
	// Identity is the domain of From in lower case.
	Identity string
	SentAt   time.Time
	// Status is the type of the message's event with the highest [Rank].
	Status      EventType
	LastEventAt time.Time
	// Channel and Template are the provider's names. A member is "" if the provider did not
	// report it.
	Channel, Subject, Template string
	Test                       bool
}

// Rank orders event types: the status of a message is the type of its event with the
// highest rank. Send has rank 0, the lowest; so has Subscription, which is never a status.
// The messages table stores ranks, so a change needs a migration.
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
