package messages

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config configures a [Messages]. All members are required except Channels, Suppressions
// and Undeliverables. If Suppressions or Undeliverables is nil, diagnoses do not search
// that list.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Recorders receive the new events, in this order, in the transaction that stores them.
	Recorders []Recorder
	Clock     core.Clock
	// Channels translates between the provider's and Mailhelm's names of channels. If it is
	// nil, every channel is unknown.
	Channels ChannelNames
	// Suppressions and Undeliverables are the lists that a diagnosis searches for the
	// recipient.
	Suppressions   SuppressionList
	Undeliverables UndeliverableList
	// HideErased replaces the addresses of erased persons in events, before they are stored.
	// nil means that there are none.
	HideErased func(ctx context.Context, orgID string, events []Event) error
}

// Messages implements the operations on messages and their events.
type Messages struct{ Config }

// New returns a Messages.
func New(cfg Config) *Messages { return &Messages{Config: cfg} }

// Operations returns the operations of the package, in the order in which the catalogue
// lists them.
func (m *Messages) Operations() []core.Operation {
	return []core.Operation{
		m.messagesSearch(), m.messagesDiagnose(),
		m.messagesList(), m.messagesGet(), m.messagesEvents(), m.recipientsMessages(),
	}
}
