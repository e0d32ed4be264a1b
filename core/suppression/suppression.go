package suppression

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required.
type Config struct {
	Clock core.Clock
}

// Suppression does the tasks of this package.
type Suppression struct{ Config }

// New makes a Suppression.
func New(cfg Config) *Suppression { return &Suppression{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (s *Suppression) Operations() []core.Operation { return nil }
