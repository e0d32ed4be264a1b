package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// AttributeStore is what the registry of attributes needs remembered. Contacts that
// are written follow the registry at once; those stored before a change follow with
// a pass over them, which the store asks for whenever a change needs one.
type AttributeStore interface {
	// Attributes is the whole registry, by name.
	Attributes(ctx context.Context, orgID string) ([]Attribute, error)
	// AttributePage is one page of the registry, newest first by creation and id.
	AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]Attribute, error)
	Attribute(ctx context.Context, orgID, id string) (Attribute, error)
	// InsertAttribute gives the attribute a slot as long as one is free. It fails
	// with core.CodeConflict when another has the name, or had it and its values
	// have not left it yet.
	InsertAttribute(ctx context.Context, orgID string, a Attribute) error
	// UpdateAttribute replaces name, type, values, description and the time of the
	// update. Stored values go along with the name and the type. It fails as
	// InsertAttribute does, and also when values of a deleted attribute stand under
	// the new name, which would mix with those of this one.
	UpdateAttribute(ctx context.Context, orgID string, a Attribute) error
	// DeleteAttribute takes the attribute out of the registry and frees its slot.
	// Contacts keep their values, which reads leave out.
	DeleteAttribute(ctx context.Context, orgID, id string) error
	// AttributeValues calls f with every value that active contacts have of the
	// attribute, and with how many have it.
	AttributeValues(ctx context.Context, orgID string, a Attribute, f func(value any, contacts int)) error
	// CountAttributes is the size of the registry.
	CountAttributes(ctx context.Context, orgID string) (int, error)

	// PassesDue lists the organizations with contacts that have to follow a change.
	PassesDue(ctx context.Context) ([]string, error)
	// Pass lets the next contacts follow, at most limit of them, in a transaction of
	// its own or the one it finds.
	Pass(ctx context.Context, orgID string, limit int) (Passed, error)
}

// Passed is what one step of a pass did.
type Passed struct {
	// Changed are the contacts whose stored values changed.
	Changed []string
	// Done is set when no contact is left behind.
	Done bool
}
