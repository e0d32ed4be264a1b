package reports

import "github.com/invopop/jsonschema"

// The figures name themselves, so their schemas say that they are numbers and do
// not list them: an agent reads the schema of every tool before it calls one.

// JSONSchema describes counts.
func (Counts) JSONSchema() *jsonschema.Schema { return allOf("integer") }

// JSONSchema describes rates.
func (Rates) JSONSchema() *jsonschema.Schema { return allOf("number") }

// JSONSchema describes the window before.
func (ComparedRates) JSONSchema() *jsonschema.Schema { return allOf("number") }

// JSONSchema describes a point: a time and counts.
func (TrendPoint) JSONSchema() *jsonschema.Schema {
	point := allOf("integer")
	point.Properties = jsonschema.NewProperties()
	point.Properties.Set("period", &jsonschema.Schema{Type: "string", Format: "date-time"})
	return point
}

// allOf is an object of which all other members are numbers of a kind.
func allOf(kind string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: kind}}
}
