package attributes

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Attribute is a registered attribute of an organization's contacts.
type Attribute struct {
	ID          string      `json:"id" jsonschema:"format=uuid"`
	Name        string      `json:"name" voice:"untrusted" jsonschema_description:"Lower-case identifier; predicates write it as attr.name."`
	Type        Type        `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum"`
	EnumValues  []string    `json:"enum_values,omitempty" voice:"untrusted" jsonschema_description:"The allowed values of an enum."`
	Description string      `json:"description,omitempty" voice:"untrusted"`
	Origin      core.Origin `json:"origin" jsonschema:"enum=managed,enum=git"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	// Slot is the name of the database column that holds a copy of the values for
	// predicates. It is "" if the values are only in the contact's record. The store assigns
	// it.
	Slot string `json:"-"`
}

// Type is the data type of an attribute's values.
type Type string

// The attribute types.
const (
	String   Type = "string"
	Number   Type = "number"
	Bool     Type = "bool"
	Datetime Type = "datetime"
	Enum     Type = "enum"
)

// castClass returns the type of the stored values. It is Type, except for an enum, whose
// values are stored as strings.
func (a Attribute) castClass() Type {
	if a.Type == Enum {
		return String
	}
	return a.Type
}

// StoredLike reports whether the values of both attributes are stored as the same type. If
// so, stored contacts need no conversion when the definition a is replaced by b.
func (a Attribute) StoredLike(b Attribute) bool { return a.castClass() == b.castClass() }
