package messages

import "github.com/mailhelm/mailhelm/core"

// Config configures the package. All members are required except the last three; nil means
// that there is no such source.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Recorders get the new events, in this order, in the transaction that stores them.
	Recorders []Recorder
	Clock     core.Clock
	// Channels translates names of channels. With nil, no channel is known.
	Channels ChannelNames
	// Suppressions and Undeliverables are read by a diagnosis, in addition to events.
	Suppressions   SuppressionList
	Undeliverables UndeliverableList
}

// Messages has the operations of this package.
type Messages struct{ Config }

// New returns a Messages.
func New(cfg Config) *Messages { return &Messages{Config: cfg} }

// Operations returns the operations, in the order of the catalogue.
func (m *Messages) Operations() []core.Operation {
	return []core.Operation{
		m.messagesSearch(), m.messagesDiagnose(),
		m.messagesList(), m.messagesGet(), m.messagesEvents(), m.recipientsMessages(),
	}
}
