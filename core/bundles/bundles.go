package bundles

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Store reads the definitions of an organization. Every method sees only the given organization, and
// takes part in the transaction of its context.
type Store interface {
	// AddDefinitions adds the definitions of a kind, except archived ones, to held, and declares
	// the kind. The set is sorted afterwards.
	AddDefinitions(ctx context.Context, orgID string, kind definitions.Kind, held *Held) error
	// SetOrigins says where definitions of a kind are edited from now on. It skips unknown keys,
	// and images, whose origin is stored with their content.
	SetOrigins(ctx context.Context, orgID string, kind definitions.Kind, keys []string, owner Owner) error
	// SetSource says where the file of a definition is. It does nothing for an unknown definition, and
	// for a kind without files of their own.
	SetSource(ctx context.Context, orgID string, ref definitions.Ref, source definitions.Source) error
}

// Owner is where definitions are edited. Commit is the commit of the repository that their contents
// come from; "" leaves the commit that is stored. Only templates store it.
type Owner struct {
	Origin core.Origin
	Commit string
}

// Subject checks and changes the definitions of one kind.
type Subject interface {
	// Check returns what is wrong with the definitions of the kind that the change wants, if all of
	// the change is made.
	Check(ctx context.Context, org core.Org, c definitions.Change) (definitions.Faults, error)
	// Apply does the work in one transaction, at the end of which it calls within.
	Apply(ctx context.Context, org core.Org, w definitions.Work, within func(context.Context) error) error
}

// Held has definitions of an organization.
type Held struct {
	Set definitions.Set
	// FromGit has the definitions that the repository of the organization defines.
	FromGit map[definitions.Ref]bool
	// Sources has where the files of segments and workflows are, the zero value for managed ones. nil
	// lets AddDefinitions leave them out.
	Sources map[definitions.Ref]definitions.Source
	// Broken has why definitions do not work whose files in the repository have errors, while the
	// organization has their last valid content. Other definitions are stored with their errors.
	Broken map[definitions.Ref][]string
	// WithoutContents lets AddDefinitions read the hashes of images alone, which is enough to compare
	// them.
	WithoutContents bool
}

// Adapters are what a plan or a sync asks about the kinds of definitions.
type Adapters struct {
	Subjects map[definitions.Kind]Subject
	// UsedBy returns a function that returns the keys of the segments that test an attribute.
	// wanted has the definitions of a bundle, whose names the segments may use.
	UsedBy func(ctx context.Context, orgID string, wanted *definitions.Set) (func(all []definitions.Segment, attribute string) []string, error)
}

// Config has the dependencies of Bundles.
type Config struct {
	Store Store
	// NewAdapters returns adapters for one plan or sync of one organization. They may keep what they
	// read.
	NewAdapters func() Adapters
	Audit       access.AuditAppender
	Clock       core.Clock
	Log         *slog.Logger
}

// Bundles exports and imports definitions.
type Bundles struct{ Config }

// New returns a Bundles.
func New(cfg Config) *Bundles { return &Bundles{cfg} }

// Operations returns the operations on bundles.
func (b *Bundles) Operations() []core.Operation {
	return []core.Operation{b.bundlesExport(), b.bundlesImport()}
}

// part is a kind of definitions, with the scopes that read and change them.
type part struct {
	kind         definitions.Kind
	view, manage core.Scope
}

// parts returns the kinds that a bundle can have, in their order.
func parts() []part {
	return []part{
		{definitions.KindAttribute, core.AttributesView, core.AttributesManage},
		{definitions.KindActivityProperty, core.ActivitiesView, core.ActivitiesManage},
		{definitions.KindList, core.ListsView, core.ListsManage},
		{definitions.KindSegment, core.SegmentsView, core.SegmentsManage},
		{definitions.KindTopic, core.TopicsView, core.TopicsManage},
		{definitions.KindImage, core.AssetsView, core.AssetsManage},
		{definitions.KindTemplate, core.TemplatesView, core.TemplatesManage},
		{definitions.KindWorkflow, core.WorkflowsView, core.WorkflowsManage},
	}
}

// manageScopes returns the scopes that imports need.
func manageScopes() []core.Scope {
	var scopes []core.Scope
	for _, p := range parts() {
		scopes = append(scopes, p.manage)
	}
	return scopes
}

// readAllowed returns the definitions of an organization that a credential with the scopes may read, and the
// kinds that it may not read.
func (b *Bundles) readAllowed(ctx context.Context, orgID string, scopes core.Scopes) (*Held, []definitions.Kind, error) {
	var kinds, omitted []definitions.Kind
	for _, p := range parts() {
		if scopes.FirstMissing([]core.Scope{p.view}) != "" {
			omitted = append(omitted, p.kind)
		} else {
			kinds = append(kinds, p.kind)
		}
	}
	held := NewHeld()
	return held, omitted, b.addTo(ctx, orgID, kinds, held)
}

// read returns the definitions of the kinds for a comparison: images without their contents.
func (b *Bundles) read(ctx context.Context, orgID string, kinds []definitions.Kind) (*Held, error) {
	held := NewHeld()
	held.WithoutContents = true
	return held, b.addTo(ctx, orgID, kinds, held)
}

// NewHeld returns a Held without definitions.
func NewHeld() *Held {
	return &Held{
		Set: definitions.Set{Declared: map[definitions.Kind]bool{}}, FromGit: map[definitions.Ref]bool{}, Broken: map[definitions.Ref][]string{},
		Sources: map[definitions.Ref]definitions.Source{},
	}
}

func (b *Bundles) addTo(ctx context.Context, orgID string, kinds []definitions.Kind, held *Held) error {
	for _, kind := range kinds {
		if err := b.Store.AddDefinitions(ctx, orgID, kind, held); err != nil {
			return err
		}
	}
	return nil
}
