package reports

import "github.com/mailhelm/mailhelm/core"

// Config is what the package needs. All members are required.
type Config struct {
	Clock core.Clock
}

// Reports does the tasks of this package.
type Reports struct{ Config }

// New makes a Reports.
func New(cfg Config) *Reports { return &Reports{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (r *Reports) Operations() []core.Operation { return nil }
