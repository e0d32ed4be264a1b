package reports

import "github.com/invopop/jsonschema"

// The figures name themselves, and an agent reads the schema of every tool before
// it calls one. So these say that all members are numbers, and list those of the
// rates alone, whose names are not those of the reports.

// JSONSchema describes counts.
func (Counts) JSONSchema() *jsonschema.Schema { return allOf("integer") }

// JSONSchema describes rates.
func (Rates) JSONSchema() *jsonschema.Schema {
	rates := allOf("number")
	rates.Properties = jsonschema.NewProperties()
	for _, name := range []string{"delivery", "bounce", "complaint", "open", "click"} {
		rates.Properties.Set(name, &jsonschema.Schema{Type: "number"})
	}
	return rates
}

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
