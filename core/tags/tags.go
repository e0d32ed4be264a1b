package tags

import "github.com/mailhelm/mailhelm/core"

// Config configures [Tags]. All fields are required.
type Config struct {
	Store Store
	Clock core.Clock
}

// Tags has the operation that lists tags, and the changes that people make on the
// dashboard.
type Tags struct{ Config }

// New returns Tags that use the configuration.
func New(cfg Config) *Tags { return &Tags{cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (t *Tags) Operations() []core.Operation { return []core.Operation{t.tagsList()} }
