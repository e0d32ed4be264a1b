package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store remembers messages and their events. Finders of one thing fail with
// core.CodeNotFound; everything takes part in the transaction of its context and
// sees only the organization it is given.
type Store interface {
	// RecordEvents stores those of the events that are not there yet, brings their
	// messages up to date, and returns the new ones.
	RecordEvents(ctx context.Context, orgID string, events []Event, at time.Time) (fresh []Event, err error)

	Message(ctx context.Context, orgID, id string) (Message, error)
	// MessageEvents are all events of a message, oldest first.
	MessageEvents(ctx context.Context, orgID, id string) ([]Event, error)
	// Recipients are the addresses that each of the messages went to, by its id.
	Recipients(ctx context.Context, orgID string, ids []string) (map[string][]string, error)
	// Messages is one page, newest first by SentAt and id; at most f.Limit.
	Messages(ctx context.Context, orgID string, f Filter) ([]Message, error)
	// CountMessages counts the messages that fit, whatever f.After says, to f.Limit
	// at most.
	CountMessages(ctx context.Context, orgID string, f Filter) (int, error)
}

// Filter narrows messages. All members that are set must match.
type Filter struct {
	core.Window
	Channel  string // the name at the provider
	Status   EventType
	Template string
	// Identity is a domain in lower case.
	Identity string
	// Recipient is one address, matched as it is spelled, among all recipients.
	Recipient string
	After     *core.After
	Limit     int
}
