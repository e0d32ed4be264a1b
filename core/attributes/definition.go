package attributes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const (
	maxAttributes = 500
	maxEnumValue  = 255 // in bytes
)

// builtIn is the name of the attribute that every contact has without registration.
const builtIn = "email"

// Definition is the part of an attribute that callers define.
type Definition struct {
	Name        string   `json:"name" jsonschema:"minLength=1,maxLength=63,pattern=^[a-z][a-z0-9_]*$" jsonschema_description:"Lower-case identifier; predicates write it as attr.name."`
	Type        Type     `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum" jsonschema_description:"Type of its values."`
	EnumValues  []string `json:"enum_values,omitempty" jsonschema:"maxItems=500" jsonschema_description:"The allowed values of an enum. Required for an enum, refused for other types."`
	Description string   `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What the attribute means, for people and agents."`
}

// check applies the rules that a JSON schema cannot express. It fails with
// core.CodeValidationFailed, and names each fault.
func (d Definition) check() error {
	var faults []core.FieldError
	fault := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	if d.Name == builtIn {
		fault("name", "is built in: every contact has attr.email")
	}
	switch {
	case d.Type != Enum && d.EnumValues != nil:
		fault("enum_values", "is allowed for the type enum only")
	case d.Type == Enum && len(d.EnumValues) == 0:
		fault("enum_values", "is required for the type enum, with at least one value")
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
			fault(field, "repeats an earlier value")
		}
		seen[value] = true
		if len(faults) == maxFaults {
			break
		}
	}
	if len(faults) > 0 {
		return core.InvalidFields(faults...)
	}
	return nil
}

// applyTo returns the attribute in the parameter a, with the name, type, values and
// description of the definition.
func (d Definition) applyTo(a Attribute) Attribute {
	a.Name, a.Type, a.EnumValues, a.Description = d.Name, d.Type, slices.Clone(d.EnumValues), d.Description
	return a
}
