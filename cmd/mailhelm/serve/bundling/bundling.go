// Package bundling builds the export and the import of definitions from the operations on them. It has
// the adapter of each kind: it holds definitions of bundles to the rules and limits of the operations.
//
// What a bundle changes at all is decided by core/bundles/plan, and in which order by core/bundles.
package bundling

import "github.com/mailhelm/mailhelm/core/bundles"

// New returns the value that exports and imports definitions.
func New(c Config) *bundles.Bundles {
	return bundles.New(bundles.Config{
		Store: c.Store, Audit: c.Audit, Clock: c.Clock, Log: c.Log,
		NewAdapters: func() bundles.Adapters {
			s := subjects{c}
			s.Schemas = &schemaOnce{Schemas: c.Schemas}
			return bundles.Adapters{Subjects: s.byKind(), UsedBy: s.usedBy}
		},
	})
}
