package bundles

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Store reads the definitions of an organization. Every method sees only the given organization.
type Store interface {
	// AddDefinitions adds the definitions of a kind, except archived ones, to held, and declares
	// the kind. The set is sorted afterwards.
	AddDefinitions(ctx context.Context, orgID string, kind definitions.Kind, held *Held) error
}

// Held has definitions of an organization.
type Held struct {
	Set definitions.Set
	// FromGit has the definitions that the repository of the organization defines.
	FromGit map[definitions.Ref]bool
}

// Config has the dependencies of Bundles.
type Config struct{ Store Store }

// Bundles exports definitions.
type Bundles struct{ Config }

// New returns a Bundles.
func New(cfg Config) *Bundles { return &Bundles{cfg} }

// Operations returns the operations on bundles.
func (b *Bundles) Operations() []core.Operation { return []core.Operation{b.bundlesExport()} }

// part is a kind whose definitions are stored, with the scope that reads them.
type part struct {
	kind definitions.Kind
	view core.Scope
}

// parts returns the kinds that a bundle can have, in their order.
func parts() []part {
	return []part{
		{definitions.KindAttribute, core.AttributesView},
		{definitions.KindActivityProperty, core.ActivitiesView},
		{definitions.KindList, core.ListsView},
		{definitions.KindSegment, core.SegmentsView},
		{definitions.KindTopic, core.TopicsView},
		{definitions.KindImage, core.AssetsView},
		{definitions.KindTemplate, core.TemplatesView},
		{definitions.KindWorkflow, core.WorkflowsView},
	}
}

// read returns the definitions of an organization that a credential with the scopes may read, and the
// kinds that it may not read.
func (b *Bundles) read(ctx context.Context, orgID string, scopes core.Scopes) (*Held, []definitions.Kind, error) {
	held := &Held{Set: definitions.Set{Declared: map[definitions.Kind]bool{}}, FromGit: map[definitions.Ref]bool{}}
	var omitted []definitions.Kind
	for _, p := range parts() {
		if scopes.FirstMissing([]core.Scope{p.view}) != "" {
			omitted = append(omitted, p.kind)
			continue
		}
		if err := b.Store.AddDefinitions(ctx, orgID, p.kind, held); err != nil {
			return nil, nil, err
		}
	}
	return held, omitted, nil
}
