package attributes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores the registry of attributes. New writes to contacts use a changed definition
// at once. Contacts that were stored before the change are converted by a job, and the
// store records that the job is due. Every method takes part in the transaction of its
// context, and reads and writes only the data of the given organization.
type Store interface {
	// Attributes returns all registered attributes, sorted by name.
	Attributes(ctx context.Context, orgID string) ([]Attribute, error)
	// AttributesNamed returns those attributes that have one of the names, in any order.
	AttributesNamed(ctx context.Context, orgID string, names []string) ([]Attribute, error)
	// AttributePage returns one page of attributes, newest first, ordered by creation time
	// and id.
	AttributePage(ctx context.Context, orgID string, after *core.After, limit int) ([]Attribute, error)
	// Attribute returns the attribute with the id, or fails with core.CodeNotFound.
	Attribute(ctx context.Context, orgID, id string) (Attribute, error)
	// InsertAttribute stores the attribute and assigns it a slot (database column) if one is
	// free. It fails with core.CodeConflict if another attribute has the name. It also fails
	// with that code if the name is the old name of a renamed attribute and contacts still
	// store values under it.
	InsertAttribute(ctx context.Context, orgID string, a Attribute) error
	// UpdateAttribute replaces the attribute's name, type, enum values, description and
	// update time. A background job later moves and converts the stored values of contacts.
	// UpdateAttribute fails with core.CodeConflict if another attribute has the new name. It
	// also fails if contacts may still store values of another renamed attribute, or of a
	// deleted one, under the new name. Those values would mix.
	UpdateAttribute(ctx context.Context, orgID string, a Attribute) error
	// DeleteAttribute removes the attribute from the registry and frees its slot (database
	// column). Contacts keep the stored values, and reads omit them.
	DeleteAttribute(ctx context.Context, orgID, id string) error
	// AttributeValues calls f with the values that active contacts have for the attribute,
	// each with the number of these contacts. It may report a value more than once.
	AttributeValues(ctx context.Context, orgID string, a Attribute, f func(value any, contacts int)) error
	// CountAttributes returns the number of registered attributes.
	CountAttributes(ctx context.Context, orgID string) (int, error)
}

// PassStore finds and converts contacts that were stored before a change of the registry.
// Every method takes part in the transaction of its context.
type PassStore interface {
	// PassesDue returns the ids of the organizations that have contacts to convert.
	PassesDue(ctx context.Context) ([]string, error)
	// Pass converts the values of at most limit contacts that are left to convert. It runs
	// in the transaction of ctx if there is one, else in a transaction of its own.
	Pass(ctx context.Context, orgID string, limit int) (Passed, error)
	// PassProgress returns how far the conversion of the organization's contacts is. It
	// counts the contacts while a conversion is due.
	PassProgress(ctx context.Context, orgID string) (Progress, error)
}

// Progress is the progress of the job that converts stored contacts.
type Progress struct {
	// Due is false if no contacts are left to convert. The numbers are then 0.
	Due bool
	// Converted is the number of contacts that the job has reached, of Contacts in all.
	Converted, Contacts int
}

// Passed is the result of one step of the job that converts stored contacts.
type Passed struct {
	// Changed has the ids of the contacts whose stored values changed.
	Changed []string
	// Done is true if all contacts of the organization have been converted.
	Done bool
}
