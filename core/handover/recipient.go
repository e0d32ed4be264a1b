package handover

import "time"

// State is the state of a recipient of a send.
type State string

// The states of a recipient. The last three are outcomes.
const (
	// Pending means that the message is to be passed to the account, not before
	// Recipient.NotBefore.
	Pending State = "pending"
	// HandingOver means that a worker passes the message to the account, or did so and does
	// not know the outcome.
	HandingOver State = "handing_over"
	// Sent means that the account accepted the message.
	Sent State = "sent"
	// Failed means that the account did not accept the message, or, with the reason
	// OutcomeUnknown, that it is unknown whether it did.
	Failed State = "failed"
	// Filtered means that the recipient must not get the message; Recipient.Tier says why.
	Filtered State = "filtered"
)

// IsOutcome reports whether the state is final.
func (s State) IsOutcome() bool { return s == Sent || s == Failed || s == Filtered }

// Tier says which check filtered a recipient.
type Tier string

// The tiers of filtered recipients.
const (
	// ByAccount: the account suppresses the address, or the contact gets no mail at all.
	ByAccount Tier = "account"
	// ByTopic: the contact does not subscribe to the topic of the send.
	ByTopic Tier = "topic"
)

// OutcomeUnknown is the reason of a failed recipient whose worker crashed or got no answer
// from the account, and about which no event arrived within Patience.
const OutcomeUnknown = "outcome_unknown"

// Patience is the time after a claim for which an unresolved recipient waits for an event of
// the provider. Providers publish the event of an accepted message within seconds; a queue of
// events may lag behind by minutes.
const Patience = 15 * time.Minute

// Recipient is a recipient of a send.
type Recipient struct {
	SendID string
	// Key is unique in the send: the id of the contact or, in a test send, the position of
	// the address.
	Key   string
	Email string
	// CreatedAt is when the broadcast or the test send was created, or the message of a workflow.
	// It never changes, and is 1970-01-01 for recipients of earlier releases.
	CreatedAt time.Time

	State State
	// Attempt counts the claims. An answer of the account applies only to the attempt that
	// asked for it.
	Attempt int
	// ClaimedBy is the id of the process of the last claim, "" before the first.
	ClaimedBy string
	// At is the time of the last change of State.
	At time.Time
	// NotBefore is the time before which a pending recipient is not claimed.
	NotBefore time.Time
	// MessageID is the provider's id of a sent message.
	MessageID string
	// Reason says why a recipient failed: OutcomeUnknown or the words of the account.
	Reason string
	// Tier is set for a filtered recipient.
	Tier Tier
}
