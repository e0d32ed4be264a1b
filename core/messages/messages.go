package messages

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Recorders are told of new events, in this order.
	Recorders []Recorder
	Clock     core.Clock
}

// Messages does the tasks of this package.
type Messages struct{ Config }

// New makes a Messages.
func New(cfg Config) *Messages { return &Messages{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (m *Messages) Operations() []core.Operation { return nil }
