package attributes

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures [Attributes]. All fields are required, except those whose comment gives
// nil a meaning.
type Config struct {
	Store      Store
	Passes     PassStore
	Transactor core.Transactor
	Clock      core.Clock
	Log        *slog.Logger
	// Topics reads the topics of the sending account, for the operation audience_get_schema.
	Topics AccountTopics

	// OnChange reports contacts whose stored attribute values changed. It is called in the
	// transaction of the change. If OnChange is nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// AffectedSegments returns the segments that a change of an attribute's definition
	// affects. It is called before the change is stored, in the same transaction, and for
	// previews. A nil AffectedSegments means that no segments exist.
	AffectedSegments func(ctx context.Context, orgID string, change Change) ([]AffectedSegment, error)
	// ActivityProperties returns the properties of activities that predicates may test, with
	// their types. nil means that there are no such properties.
	ActivityProperties func(ctx context.Context, orgID string) (map[predicate.ActivityProperty]predicate.Type, error)
}

// AccountTopics reads the topics of an organization's sending account.
type AccountTopics interface {
	// Topics returns the account's topics, sorted by name. It returns nil if the
	// organization has no account or the account has no contact list. It fails with
	// core.CodeUpstreamUnavailable if the account does not answer.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
}

// Attributes has the operations on the registry of contact attributes.
type Attributes struct {
	Config
}

// New returns Attributes that use the configuration.
func New(cfg Config) *Attributes { return &Attributes{cfg} }

// Operations returns the operations on attributes, in the order of the operation catalogue.
// The operation of [Attributes.GetSchema] is not among them, because the catalogue lists it
// after the topics.
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
