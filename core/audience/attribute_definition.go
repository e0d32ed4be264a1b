package audience

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const (
	maxAttributes = 500
	maxEnumValue  = 255 // bytes
)

// builtIn is the attribute that every contact has and no registry holds.
const builtIn = "email"

// AttributeDefinition is what a caller says of an attribute.
type AttributeDefinition struct {
	Name        string        `json:"name" jsonschema:"minLength=1,maxLength=63,pattern=^[a-z][a-z0-9_]*$" jsonschema_description:"Lower-case identifier; predicates write it as attr.name."`
	Type        AttributeType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum" jsonschema_description:"What its values are."`
	EnumValues  []string      `json:"enum_values,omitempty" jsonschema:"maxItems=500" jsonschema_description:"Required for an enum, and for nothing else: the values it may have."`
	Description string        `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What the attribute means, for people and agents."`
}

// check finds what a schema cannot say.
func (d AttributeDefinition) check() error {
	var faults []core.FieldError
	fault := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	if d.Name == builtIn {
		fault("name", "is built in: every contact has attr.email")
	}
	switch {
	case d.Type != EnumAttribute && d.EnumValues != nil:
		fault("enum_values", "belongs to the type enum alone")
	case d.Type == EnumAttribute && len(d.EnumValues) == 0:
		fault("enum_values", "is required for an enum, with one value or more")
	}
	seen := make(map[string]bool, len(d.EnumValues))
	for i, value := range d.EnumValues {
		field := fmt.Sprintf("enum_values.%d", i)
		switch {
		case strings.TrimSpace(value) == "":
			fault(field, "is blank")
		case len(value) > maxEnumValue:
			fault(field, fmt.Sprintf("has more than %d bytes", maxEnumValue))
		case seen[value]:
			fault(field, "stands there twice")
		}
		seen[value] = true
		if len(faults) == enoughFaults {
			break
		}
	}
	if len(faults) > 0 {
		return core.InvalidFields(faults...)
	}
	return nil
}

// over lays the definition over an attribute.
func (d AttributeDefinition) over(a Attribute) Attribute {
	a.Name, a.Type, a.EnumValues, a.Description = d.Name, d.Type, slices.Clone(d.EnumValues), d.Description
	return a
}
