package activities

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Property is a promoted property: predicates may test it, and read its values as its type.
// A value of another type counts as absent. Properties of website activities need no
// promotion.
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

// Origin is the place where a definition is edited.
type Origin string

// The origins of a definition. Git definitions are read-only here.
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

// PropertyIn is the definition of a property that a caller sends.
type PropertyIn struct {
	ActivityName string       `json:"activity_name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Name of the activities that have the property."`
	Property     string       `json:"property" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Member of the activities' properties."`
	Type         PropertyType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime" jsonschema_description:"Type of its values."`
	Description  string       `json:"description,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"For people and agents."`
}

// IDIn has the id of a property.
type IDIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the property."`
}

// PropertyChangeIn names a property and its new definition.
type PropertyChangeIn struct {
	IDIn
	PropertyIn

	counted *counted
}

// DeletePropertyIn has the id of the property to delete.
type DeletePropertyIn struct {
	IDIn

	counted *counted
}

// check refuses names that consist of white space, which no predicate can contain.
func (in PropertyIn) check() error {
	if strings.TrimSpace(in.ActivityName) == "" {
		return core.Invalid("activity_name", "is blank")
	}
	if strings.TrimSpace(in.Property) == "" {
		return core.Invalid("property", "is blank")
	}
	return nil
}

// applyTo returns the property with the caller's definition.
func (in PropertyIn) applyTo(p Property) Property {
	p.ActivityName, p.Property, p.Type, p.Description = in.ActivityName, in.Property, in.Type, in.Description
	return p
}

// PropertyStore stores the promoted properties.
type PropertyStore interface {
	// InsertProperty fails with core.CodeConflict when the property is promoted already.
	InsertProperty(ctx context.Context, orgID string, p Property) error
	// Property returns a property by id. It fails with core.CodeNotFound. Inside a
	// transaction it locks the property until the transaction ends.
	Property(ctx context.Context, orgID, id string) (Property, error)
	// PropertyPage returns one page, newest first by creation and id.
	PropertyPage(ctx context.Context, orgID string, after *core.After, limit int) ([]Property, error)
	// Properties returns all properties, by activity and property.
	Properties(ctx context.Context, orgID string) ([]Property, error)
	// UpdateProperty fails as InsertProperty does.
	UpdateProperty(ctx context.Context, orgID string, p Property) error
	DeleteProperty(ctx context.Context, orgID, id string) error
	// CountDropout counts active contacts that would lose the property. Each has an activity
	// whose value is of the property's type and not also of the type stays. stays is "" when
	// all values are lost.
	CountDropout(ctx context.Context, orgID string, p Property, stays PropertyType) (int, error)
}

// refuseGitOwned refuses to change a definition of a repository.
func (p Property) refuseGitOwned() error {
	if p.Origin != Git {
		return nil
	}
	return core.Conflict("The property is defined in the connected repository.", "Change the definition in the repository and let it sync.")
}
