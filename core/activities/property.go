package activities

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Property is a promoted property: a member of the activities' properties that predicates
// may test. Predicates read it as the property's type, and a value of another type counts
// as absent. Predicates may test properties of website activities without promotion.
type Property struct {
	ID           string       `json:"id" jsonschema:"format=uuid"`
	ActivityName string       `json:"activity_name" voice:"untrusted"`
	Property     string       `json:"property" voice:"untrusted" jsonschema_description:"Member of the activities' properties."`
	Type         PropertyType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime"`
	Description  string       `json:"description" voice:"untrusted"`
	Origin       Origin       `json:"origin" jsonschema:"enum=managed,enum=git"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
}

// Origin is the place where the definition of a property is edited: the API or a Git
// repository.
type Origin string

// Where the definition of a promoted property comes from: the API, or a Git repository. The
// API cannot change definitions from Git.
const (
	Managed Origin = "managed"
	Git     Origin = "git"
)

// PropertyType is the type of a property's values.
type PropertyType string

// The property types.
const (
	StringProperty   PropertyType = "string"
	NumberProperty   PropertyType = "number"
	BoolProperty     PropertyType = "bool"
	DatetimeProperty PropertyType = "datetime"
)

// PropertyIn is the definition of a promoted property that a caller sends.
type PropertyIn struct {
	ActivityName string       `json:"activity_name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Name of the activities that have the property."`
	Property     string       `json:"property" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Member of the activities' properties."`
	Type         PropertyType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime" jsonschema_description:"Type of its values."`
	Description  string       `json:"description,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"For people and agents."`
}

// IDIn has the id of a promoted property.
type IDIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the property."`
}

// PropertyChangeIn has the id of a promoted property and its new definition.
type PropertyChangeIn struct {
	IDIn
	PropertyIn

	counted *impactCount
}

// DeletePropertyIn has the id of the promoted property to delete.
type DeletePropertyIn struct {
	IDIn

	counted *impactCount
}

// check refuses blank activity and property names, because no predicate can contain them.
func (in PropertyIn) check() error {
	if strings.TrimSpace(in.ActivityName) == "" {
		return core.Invalid("activity_name", "is blank")
	}
	if strings.TrimSpace(in.Property) == "" {
		return core.Invalid("property", "is blank")
	}
	return nil
}

// applyTo returns p with the name, type and description that the caller sent.
func (in PropertyIn) applyTo(p Property) Property {
	p.ActivityName, p.Property, p.Type, p.Description = in.ActivityName, in.Property, in.Type, in.Description
	return p
}

// PropertyStore stores the promoted properties. Every method takes part in the transaction
// of ctx and sees only the given organization.
type PropertyStore interface {
	// InsertProperty stores a promoted property. It fails with core.CodeConflict if this
	// property of the same activity name is already promoted.
	InsertProperty(ctx context.Context, orgID string, p Property) error
	// Property returns the promoted property with the id, or fails with core.CodeNotFound.
	// Inside a transaction it locks the property until the transaction ends.
	Property(ctx context.Context, orgID, id string) (Property, error)
	// PropertyPage returns one page of promoted properties, newest first, ordered by
	// creation time and id.
	PropertyPage(ctx context.Context, orgID string, after *core.After, limit int) ([]Property, error)
	// UpdateProperty replaces the activity name, property, type and description of the
	// property with the id of p. It fails with core.CodeNotFound if there is none, and with
	// core.CodeConflict as InsertProperty does.
	UpdateProperty(ctx context.Context, orgID string, p Property) error
	DeleteProperty(ctx context.Context, orgID, id string) error
	// CountDropout counts the active contacts that predicates would no longer find by the
	// property after a change of p. Such a contact has an activity with a value of p's type
	// that is not also of the new type. The parameter stays is the new type, "" if the
	// change loses all values.
	CountDropout(ctx context.Context, orgID string, p Property, stays PropertyType) (int, error)
}

// refuseGitOwned fails with core.CodeConflict if a repository defines the property.
func (p Property) refuseGitOwned() error {
	if p.Origin != Git {
		return nil
	}
	return core.Conflict("The property is defined in the connected repository.", "Change the definition in the repository and let it sync.")
}
