package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Store keeps the registry of attributes. A write to a contact follows the registry at
// once. Contacts stored before a change follow in a pass over them; the store notes when
// a change needs one. Every method sees only the organization given and takes part in
// the transaction of its context.
type Store interface {
	// Attributes returns the whole registry, by name.
	Attributes(ctx context.Context, orgID string) ([]Attribute, error)
	// AttributePage returns one page of the registry, newest first by creation and id.
	AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]Attribute, error)
	// Attribute fails with core.CodeNotFound for an unknown id.
	Attribute(ctx context.Context, orgID, id string) (Attribute, error)
	// InsertAttribute stores the attribute and gives it a slot if one is free. It fails
	// with core.CodeConflict when another attribute has the name, or had it and its
	// values have not left the name yet.
	InsertAttribute(ctx context.Context, orgID string, a Attribute) error
	// UpdateAttribute replaces name, type, values, description and the time of the update.
	// Stored values follow the name and the type. It fails as InsertAttribute does. It also
	// fails if values of a deleted attribute are stored under the new name, because they
	// would mix with the values of this one.
	UpdateAttribute(ctx context.Context, orgID string, a Attribute) error
	// DeleteAttribute removes the attribute from the registry and frees its slot.
	// Contacts keep their values, which reads leave out.
	DeleteAttribute(ctx context.Context, orgID, id string) error
	// AttributeValues calls f with each value of the attribute that active contacts
	// have, and the number of contacts that have it.
	AttributeValues(ctx context.Context, orgID string, a Attribute, f func(value any, contacts int)) error
	// CountAttributes returns the size of the registry.
	CountAttributes(ctx context.Context, orgID string) (int, error)
}

// PassStore brings contacts that were stored before a change to the registry. Every method
// takes part in the transaction of its context.
type PassStore interface {
	// PassesDue returns the organizations whose contacts have yet to follow a change.
	PassesDue(ctx context.Context) ([]string, error)
	// Pass brings the next contacts to the registry, at most limit of them, in the
	// transaction of ctx or in one of its own.
	Pass(ctx context.Context, orgID string, limit int) (Passed, error)
}

// Passed is the result of one step of a pass.
type Passed struct {
	// Changed are the ids of the contacts whose stored values changed.
	Changed []string
	// Done is set when all contacts follow the registry.
	Done bool
}
