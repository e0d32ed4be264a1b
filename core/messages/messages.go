package messages

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required but the last three,
// which are nil where there is nothing to ask.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Recorders get the new events, in this order.
	Recorders []Recorder
	Clock     core.Clock
	// Channels without an answer know no channel.
	Channels ChannelNames
	// Suppressions and Undeliverables are read by a diagnosis, in addition to events.
	Suppressions   SuppressionList
	Undeliverables UndeliverableList
}

// Messages does the tasks of this package.
type Messages struct{ Config }

// New makes a Messages.
func New(cfg Config) *Messages { return &Messages{Config: cfg} }

// Operations returns the operations, in the order of the catalogue.
func (m *Messages) Operations() []core.Operation {
	return []core.Operation{
		m.messagesSearch(), m.messagesDiagnose(),
		m.messagesList(), m.messagesGet(), m.messagesEvents(), m.recipientsMessages(),
	}
}
