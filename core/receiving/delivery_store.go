package receiving

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// LogEntry is a new message in the log, with what is stored beside it.
type LogEntry struct {
	Message Message
	States  []State // at least one; the last is the outcome
	// Content is stored if the message can be delivered, now or later; nil otherwise. It is
	// deleted at ExpiresAt.
	Content   *inbound.Message
	ExpiresAt time.Time
	// Wanted is the delivery to make, or nil.
	Wanted *Wanted
}

// Added is the result of storing a [LogEntry].
type Added struct {
	// New is false if the id was stored already. Then nothing is stored.
	New bool
	// Kept is false if the content is not stored, because there is none or the message has one of
	// another copy.
	Kept bool
}

// Wanted says for whom a message is delivered.
type Wanted struct {
	Recipients []string
	// Entities has the metadata of minted addresses among the recipients, by local part.
	Entities map[string]json.RawMessage
}

// DeliveryStore stores the log of received mail with the contents and deliveries. Every method takes
// part in the transaction of its context, and reads and changes only data of the given
// organization.
type DeliveryStore interface {
	// Published returns what is published of a domain. It is not routed if its webhook was removed
	// since. Published reports false if nothing is published, or the domain was deleted since.
	Published(ctx context.Context, t Target) (Document, bool, error)
	// Entities returns the metadata of those local parts that are published addresses.
	Entities(ctx context.Context, t Target, locals []string) (map[string]json.RawMessage, error)
	// Add stores messages. It returns the result for each of them.
	Add(ctx context.Context, orgID string, all ...LogEntry) ([]Added, error)
	// Content returns the content of a message. It fails with core.CodeNotFound if it is deleted
	// or was never stored.
	Content(ctx context.Context, orgID, messageID string) (inbound.Message, error)
	// Message returns a message of the log by its id, or a NotFound error. In a transaction it
	// locks the message.
	Message(ctx context.Context, orgID, id string) (Message, error)
	// Resendable returns messages of a domain that were received from from to before to, whose
	// content is stored, oldest first. They begin after the message after, if it is not nil.
	Resendable(ctx context.Context, t Target, from, to time.Time, after *Message, limit int) ([]Message, error)
	// Requeue makes a delivery of a message due at once, with all its tries, and adds the state.
	// Without Wanted, the delivery must exist.
	Requeue(ctx context.Context, orgID string, m Message, wanted *Wanted, s State) error

	// ExpiredContents returns contents whose time is over, the oldest first.
	ExpiredContents(ctx context.Context, orgID string, now time.Time, limit int) ([]inbound.Message, error)
	// DeleteContents deletes the contents of messages. Their deliveries can no longer be made.
	DeleteContents(ctx context.Context, orgID string, messageIDs []string) error
	// DeleteMessages deletes at most limit messages of the log that were received before a time,
	// with their states and deliveries, and returns their number.
	DeleteMessages(ctx context.Context, orgID string, before time.Time, limit int) (int, error)
}

// Endpoint is the webhook of a domain that a process has leased.
type Endpoint struct {
	Target
	Domain string
	URL    string
	Secret []byte // encrypted
	// Lease is the fencing token.
	Lease int
}

// Item is a due delivery.
type Item struct {
	ID        string // the webhook-id
	MessageID string
	Test      bool
	Wanted
	DueAt time.Time
	// Attempts counts all attempts; it is the fencing token of the outcome. Tries counts those
	// since the delivery was created or requested again.
	Attempts, Tries int
}

// Result is the outcome of an attempt.
type Result struct {
	Target
	Item  Item
	State State
	// DueAt is the time of the next attempt, nil if none follows.
	DueAt *time.Time
	// Failed is true if the endpoint did not accept the delivery. Slow is true if it did not, or
	// slowly.
	Failed, Slow bool
}

// Queue has the due deliveries of all organizations.
type Queue interface {
	// Due returns domains with a webhook, a due delivery and no lease. slow selects those whose
	// last attempt was slow or failed, otherwise the others. The organizations take turns; of one
	// organization, the domain that was served longest ago is first.
	Due(ctx context.Context, slow bool, now time.Time, limit int) ([]Target, error)
	// Lease gives this process the only right to send deliveries to the webhook of a domain until
	// a time. It reports false if another process has it, or the domain has no webhook.
	Lease(ctx context.Context, t Target, now, until time.Time) (Endpoint, bool, error)
	// Release ends a lease at once, unless it was lost.
	Release(ctx context.Context, e Endpoint, now time.Time) error
	// Items returns due deliveries to an endpoint, those that wait longest first. They begin after
	// the delivery after, if it is not nil. There are none if the lease was lost or the webhook
	// was changed.
	Items(ctx context.Context, e Endpoint, now time.Time, after *Item, limit int) ([]Item, error)
	// Settle stores results, also of several endpoints. A result whose delivery was attempted or
	// requested again since changes nothing.
	Settle(ctx context.Context, results []Result) error
}
