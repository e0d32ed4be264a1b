package channels

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required.
type Config struct {
	Clock core.Clock
}

// Channels does the tasks of this package.
type Channels struct{ Config }

// New makes a Channels.
func New(cfg Config) *Channels { return &Channels{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (c *Channels) Operations() []core.Operation { return nil }
