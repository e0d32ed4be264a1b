package messages

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores messages and their events. A method that finds one record fails with
// core.CodeNotFound if there is none. Every method takes part in the transaction of ctx and
// sees only the given organization.
type Store interface {
	// RecordEvents stores those events that are not yet stored, and updates their messages.
	// It returns the events that it has newly stored.
	RecordEvents(ctx context.Context, orgID string, events []Event, at time.Time) (fresh []Event, err error)

	Message(ctx context.Context, orgID, id string) (Message, error)
	// MessageEvents returns all events of a message, oldest first.
	MessageEvents(ctx context.Context, orgID, id string) ([]Event, error)
	// Recipients returns the addresses of the recipients of each message, by message id.
	Recipients(ctx context.Context, orgID string, ids []string) (map[string][]string, error)
	// Messages returns at most f.Limit matching messages after f.After, newest first by
	// SentAt and id.
	Messages(ctx context.Context, orgID string, f Filter) ([]Message, error)
	// CountMessages counts the matching messages and stops at f.Limit. It ignores f.After.
	CountMessages(ctx context.Context, orgID string, f Filter) (int, error)
}

// Filter selects messages. A message must match every member that is set.
type Filter struct {
	core.Window
	Channel  string // the name at the provider
	Status   EventType
	Template string
	// Identity is the sender's domain in lower case.
	Identity string
	// Recipient is the address of one recipient in the provider's spelling. The comparison
	// is case-sensitive.
	Recipient string
	After     *core.After
	Limit     int
}
