package attributes

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config holds what the registry needs. All fields are required unless they say what
// nil means.
type Config struct {
	Store      Store
	Passes     PassStore
	Transactor core.Transactor
	Clock      core.Clock
	Log        *slog.Logger
	// Topics reads the account's topics, for audience_get_schema.
	Topics AccountTopics

	// OnChange reports contacts whose stored values changed, in the transaction of the
	// change. With nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// AffectedSegments returns what a change of the registry does to segments. It is called in
	// the transaction of the change, before the change is stored. nil means that no
	// segments exist.
	AffectedSegments func(ctx context.Context, orgID string, change Change) ([]AffectedSegment, error)
	// ActivityProperties returns the properties of activities that predicates may test.
	// nil means none.
	ActivityProperties func(ctx context.Context, orgID string) (map[predicate.ActivityProperty]predicate.Type, error)
}

// AccountTopics reads the topics of an organization's sending account.
type AccountTopics interface {
	// Topics returns the topics by name, nil when the organization has no account or the
	// account has no contact list. It fails with core.CodeUpstreamUnavailable when the
	// account does not answer.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
}

// Attributes does the tasks of the registry.
type Attributes struct {
	Config
}

// New returns Attributes with the configuration.
func New(cfg Config) *Attributes { return &Attributes{cfg} }

// Operations returns the tasks on attributes, in the order of the catalogue.
// [Attributes.GetSchema] stands apart, because the catalogue lists it after the topics.
func (a *Attributes) Operations() []core.Operation {
	return []core.Operation{
		a.attributesList(),
		a.attributesGet(),
		a.attributesCreate(),
		a.attributesUpdate(),
		a.attributesDelete(),
		a.attributesPreview(),
	}
}
