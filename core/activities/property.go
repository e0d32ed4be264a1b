package activities

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Property is a promoted property: predicates may filter on it, with the type as which its
// values are read. A value of another type counts as absent. Properties of website
// activities need no promotion.
type Property struct {
	ID           string       `json:"id" jsonschema:"format=uuid"`
	ActivityName string       `json:"activity_name" voice:"untrusted"`
	Property     string       `json:"property" voice:"untrusted" jsonschema_description:"A member of the activities' properties."`
	Type         PropertyType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime"`
	Description  string       `json:"description" voice:"untrusted"`
	Origin       Origin       `json:"origin" jsonschema:"enum=managed,enum=git"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
}

// Origin says where a definition is edited.
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

// PropertyIn is a property as a caller defines it.
type PropertyIn struct {
	ActivityName string       `json:"activity_name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Name of the activities that have the property."`
	Property     string       `json:"property" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Member of their properties."`
	Type         PropertyType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime" jsonschema_description:"What its values are."`
	Description  string       `json:"description,omitempty" jsonschema:"maxLength=1000" jsonschema_description:"For people and agents."`
}

// IDIn names a property.
type IDIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the property."`
}

// PropertyChangeIn names a property and its new definition.
type PropertyChangeIn struct {
	IDIn
	PropertyIn

	counted *counted
}

// DeletePropertyIn names the property to end.
type DeletePropertyIn struct {
	IDIn

	counted *counted
}

// check refuses names of white space only, which no predicate can contain.
func (in PropertyIn) check() error {
	if strings.TrimSpace(in.ActivityName) == "" {
		return core.Invalid("activity_name", "is blank")
	}
	if strings.TrimSpace(in.Property) == "" {
		return core.Invalid("property", "is blank")
	}
	return nil
}

// into returns the property with the caller's definition.
func (in PropertyIn) into(p Property) Property {
	p.ActivityName, p.Property, p.Type, p.Description = in.ActivityName, in.Property, in.Type, in.Description
	return p
}

// PropertyStore keeps the promoted properties.
type PropertyStore interface {
	// InsertProperty fails with core.CodeConflict when the property is promoted
	// already.
	InsertProperty(ctx context.Context, orgID string, p Property) error
	// Property fails with core.CodeNotFound. Inside a transaction the property is
	// locked until its end.
	Property(ctx context.Context, orgID, id string) (Property, error)
	// PropertyPage returns one page, newest first by creation and id.
	PropertyPage(ctx context.Context, orgID string, after *core.After, limit int) ([]Property, error)
	// Properties returns all properties, by activity and property.
	Properties(ctx context.Context, orgID string) ([]Property, error)
	// UpdateProperty fails as InsertProperty does.
	UpdateProperty(ctx context.Context, orgID string, p Property) error
	DeleteProperty(ctx context.Context, orgID, id string) error
	// CountDropout counts active contacts with an activity whose value of the property is of
	// its type and not also of the type stays; "" stays for none.
	CountDropout(ctx context.Context, orgID string, p Property, stays PropertyType) (int, error)
}

// gitOwned refuses to change a definition of a repository.
func (p Property) gitOwned() error {
	if p.Origin != Git {
		return nil
	}
	return core.Conflict("The property is defined in the connected repository.", "Change the definition in the repository and let it sync.")
}
