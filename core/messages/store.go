package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores messages and their events. Methods that find one record fail with
// core.CodeNotFound. Every method takes part in the transaction of its context and sees only
// the given organization.
type Store interface {
	// RecordEvents stores the new events, updates their messages, and returns the new
	// events.
	RecordEvents(ctx context.Context, orgID string, events []Event, at time.Time) (fresh []Event, err error)

	Message(ctx context.Context, orgID, id string) (Message, error)
	// MessageEvents returns all events of a message, oldest first.
	MessageEvents(ctx context.Context, orgID, id string) ([]Event, error)
	// Recipients returns the addresses of each message, by its id.
	Recipients(ctx context.Context, orgID string, ids []string) (map[string][]string, error)
	// Messages returns one page of at most f.Limit messages, newest first by SentAt and id.
	Messages(ctx context.Context, orgID string, f Filter) ([]Message, error)
	// CountMessages counts the matching messages, up to f.Limit. It ignores f.After.
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
	// Recipient is one address. It must equal a recipient as the provider spells it.
	Recipient string
	After     *core.After
	Limit     int
}
