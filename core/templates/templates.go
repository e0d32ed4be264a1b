package templates

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required.
type Config struct {
	Clock core.Clock
}

// Templates does the tasks of this package.
type Templates struct{ Config }

// New makes a Templates.
func New(cfg Config) *Templates { return &Templates{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (t *Templates) Operations() []core.Operation { return nil }
